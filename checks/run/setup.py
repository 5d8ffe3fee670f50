"""What the two paths are, and whether they differ in more than speculation."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checks.acceptance.drafter_config import judge_drafter_config
from checks.findings import Finding, NotJudged
from checks.servers.paths import (
    PathComparison,
    compare_fingerprints,
    compare_paths,
    compare_prompts,
    compare_repeats,
)
from checks.servers.same_request import compare_requests
from draftgate.config.config import Config
from traces.journal.exchange import Evidence
from checks.run.pairs import ServerFacts
from draftgate.run.paths import server_spec
from replay.launch.drafter import DrafterConfigs, read_drafter
from traces.journal.path_facts import PathFacts
from traces.journal.served_parsers import ServedParsers, resolve_parsers

ONLY_FIRST = 3
"""So many turns with other prompts are shown; the rest say nothing more."""


@dataclass(frozen=True, slots=True)
class SetUp:
    """Facts of both paths, their parsers, how they compare, and the drafter's two configs."""

    facts: Mapping[str, Sequence[PathFacts]]
    served: Mapping[str, ServedParsers]
    comparison: PathComparison
    drafter: DrafterConfigs
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]
    unverified: tuple[str, ...] = field(default=())


def judge_setup(
    config: Config,
    facts: Mapping[str, Sequence[PathFacts]],
    drafter: DrafterConfigs,
    evidence: Evidence,
) -> SetUp:
    """PATHS_DIFFER and DRAFTER_CONFIG_LOST, with what could not be verified."""
    comparison = compare_paths(facts["baseline"], facts["candidate"])
    findings = list(comparison.findings)
    not_judged: list[NotJudged] = []
    for path in facts:
        prints = [e.response.system_fingerprint for e in evidence.of(path).values()]
        changed = compare_fingerprints(path, prints)
        findings += [changed] if changed else []
    findings += prompt_differences(evidence)[:ONLY_FIRST]
    if config.candidate.speculative_config.get("model") or config.candidate.urls:
        for item in judge_drafter_config(drafter.checkpoint, drafter.effective):
            (findings if isinstance(item, Finding) else not_judged).append(item)  # type: ignore[arg-type]
    unverified = list(comparison.unverified)
    runs = sorted({exchange.key.run for exchange in evidence})
    if len(runs) > 1:
        unverified.append(f"the captures are of different runs: {', '.join(runs)}")
    if drafter.error:
        unverified.append(f"drafter config: {drafter.error}")
    return SetUp(
        facts,
        served_parsers(config, facts),
        comparison,
        drafter,
        tuple(findings),
        tuple(not_judged),
        tuple(unverified),
    )


def prompt_differences(evidence: Evidence, arm: str = "main", repeat: str = "aa") -> list[Finding]:
    """Turns of an arm whose requests or prompt token ids are not the same everywhere."""
    baseline, again = evidence.of("baseline", arm), evidence.of("baseline", repeat)
    found = []
    for turn, exchange in evidence.of("candidate", arm).items():
        if turn not in baseline:
            continue
        found.append(compare_requests(*turn, baseline[turn].request, exchange.request))
        first = baseline[turn].response.prompt_token_ids
        found.append(compare_prompts(*turn, first, exchange.response.prompt_token_ids))
        if turn in again:
            found.append(compare_repeats(*turn, first, again[turn].response.prompt_token_ids))
    return [finding for finding in found if finding is not None]


def read_drafter_configs(config: Config) -> DrafterConfigs:
    """Both configs of a launched candidate's drafter; nothing is known of an attached one."""
    return (
        DrafterConfigs()
        if config.candidate.urls
        else read_drafter(server_spec(config, "candidate"))
    )


def server_facts(
    config: Config, facts: Mapping[str, Sequence[PathFacts]], evidence: Evidence
) -> ServerFacts:
    """What pairs need to know of the servers."""
    first = facts["candidate"][0]
    model = first.models[0] if first.models else None
    block = (first.cache or {}).get("block_size", "")
    return ServerFacts(
        eos=eos_strings(config.server.model),
        block_size=int(block) if block.isdecimal() else seen_block_size(evidence),
        max_model_len=model.max_model_len if model else None,
    )


def seen_block_size(evidence: Evidence) -> int | None:
    """The KV block size as far as the captures show it, for servers that do not say.

    Whole blocks are cached, so every cached length is a multiple of the size; the greatest common
    divisor may be a multiple of it too, which only makes the check of lost cache hits more lenient.
    """
    cached = [e.response.usage.cached or 0 for e in evidence if e.response.usage is not None]
    return math.gcd(*cached) or None


def served_parsers(
    config: Config, facts: Mapping[str, Sequence[PathFacts]]
) -> dict[str, ServedParsers]:
    """By path: what `[run]` names, else what its servers were launched with, else what they say."""
    named = ServedParsers(config.run.tool_parser, config.run.reasoning_parser, config.run.tokenizer)
    flags = {"baseline": config.baseline.flags, "candidate": config.candidate.flags}
    return {
        path: resolve_parsers(
            named, servers, (*config.server.flags, *flags[path]), config.server.model
        )
        for path, servers in facts.items()
    }


def eos_strings(model: str) -> tuple[str, ...]:
    """EOS strings of a local model's tokenizer; empty for a model that is not a local folder."""
    file = Path(model) / "tokenizer_config.json"
    try:
        settings: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    token = settings.get("eos_token") if isinstance(settings, dict) else None
    text = token.get("content") if isinstance(token, dict) else token
    return (text,) if isinstance(text, str) and text else ()
