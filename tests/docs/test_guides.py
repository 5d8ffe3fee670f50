"""The guides: configurations and workflows parse, command lines and numbers are right."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from checks.greedy.rate import poisson_limits
from checks.greedy.rate_table import DEFAULT_DEFF
from checks.policy import Policy
from checks.sampled.surprisal import tokens_for_equivalence
from checks.servers.paths import compare_paths
from checks.stats.paired_proportions import pairs_for_margin, zero_discordant_bound
from draftgate.config.file import parse_config
from replay.launch.command import DRAFTING_FLAG, OBSERVING_FLAGS
from traces.errors import ConfigError
from traces.journal.path_facts import PathFacts
from traces.journal.vllm_flags import parse_flags

LAUNCHED = {
    "server": {"model": "m"},
    "candidate": {"speculative_config": {"method": "ngram", "num_speculative_tokens": 3}},
}
"""Completes a part of a configuration."""


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def guide(root: Path, name: str) -> Path:
    return root / "docs" / "guides" / name


def test_every_configuration_shown_is_one(root: Path) -> None:
    shown = 0
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for text in blocks(page, "toml"):
            parse_config(LAUNCHED | tomllib.loads(text), str(page))
            shown += 1
    assert shown > 6


def test_a_wrong_key_would_be_seen() -> None:
    with pytest.raises(ConfigError, match=r"run\.concurency: unknown key"):
        parse_config(LAUNCHED | {"run": {"concurency": 4}}, "page")


def test_every_workflow_parses_and_runs_the_gate_once(root: Path) -> None:
    yaml = pytest.importorskip("yaml")
    workflows = [yaml.safe_load(text) for text in blocks(guide(root, "ci.md"), "yaml")]
    steps = [s for w in workflows for job in w["jobs"].values() for s in job["steps"]]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    assert sum("draftgate gate" in step.get("run", "") for step in steps) == 1


def test_the_two_servers_differ_in_the_drafter_alone_and_show_what_is_asked(root: Path) -> None:
    text = "\n".join(blocks(guide(root, "eagle-3.1.md"), "bash"))
    lines = [c for c in text.replace("\\\n", " ").splitlines() if c.startswith("vllm serve")]
    baseline, candidate = map(shlex.split, lines)
    facts = [
        PathFacts(path, f"http://{path}:8000", command=tuple(command))
        for path, command in (("baseline", baseline), ("candidate", candidate))
    ]
    assert compare_paths(facts[:1], facts[1:]).findings == ()
    wanted = parse_flags(OBSERVING_FLAGS)
    assert wanted.items() <= parse_flags(baseline).items()
    assert (wanted | parse_flags([DRAFTING_FLAG])).items() <= parse_flags(candidate).items()
    assert "--speculative-config" not in parse_flags(baseline)


def numbers(text: str, row: str) -> list[int]:
    """The whole numbers in the line that starts with `row`."""
    line = next(line for line in text.splitlines() if line.startswith(row))
    return [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", line.removeprefix(row))]


def test_the_numbers_of_the_scale_guide_are_those_of_the_formulas(root: Path) -> None:
    text = guide(root, "scale.md").read_text(encoding="utf-8")
    policy = Policy()
    for row, margin in (("1e-3", 1e-3), ("3e-4", 3e-4), ("1e-4 (default)", 1e-4), ("3e-5", 3e-5)):
        expected = [round(poisson_limits(0, 1, deff)[1] / margin) for deff in (1, 2)]
        assert numbers(text, f"| {row}") == expected
    none, *some = numbers(text, "| turns with tool calls |")
    assert zero_discordant_bound(none) <= policy.success_margin < zero_discordant_bound(none - 1)
    assert some == [pairs_for_margin(d, policy.success_margin) for d in (0.01, 0.02, 0.04, 0.1)]
    assert (policy.rate_margin, DEFAULT_DEFF, policy.success_margin) == (1e-4, 2.0, 0.02)
    sampled = [tokens_for_equivalence(v, policy.excess_surprisal_margin) for v in (0.3, 1.0)]
    assert all(f"{n:,}" in text for n in sampled)
