"""The gate over paper servers that it launches itself: small caches, counters, sudden death."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from draftgate.config.file import parse_config
from draftgate.progress import SilentReporter
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.paper.gate import LENIENT, STAND_IN, K, rows
from tests.support.paper.sessions import write_sessions
from traces.errors import ServerError
from traces.journal.journal import JournalReader
from traces.wire.reassembly import response_of

SMALL = {"name": "crowded", "small_kv": True, "concurrency": 4, "share": 1.0}


def launch(
    folder: Path,
    fault: str = "",
    arms: tuple[dict[str, Any], ...] = (),
    target: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    **run: Any,
) -> GateOutcome:
    """A gate whose paths are processes of the stand-in for vLLM."""
    model = folder / "model"
    model.mkdir(parents=True)
    (model / "config.json").write_text(json.dumps(target or {"model_type": "llama"}))
    config = parse_config(
        {
            "run": {
                "sessions": [str(write_sessions(folder / "sessions.jsonl", 10, 2))],
                "output": str(folder / "out"),
                "db": str(folder / "store.duckdb"),
                "tool_parser": "hermes",
                "order": "together",
                **run,
            },
            "server": {
                "model": str(model),
                "served_model_name": "paper",
                "flags": ["--max-model-len", "16384"],
                "env": {"PYTHONPATH": str(STAND_IN), "PAPER_FAULT": fault},
                "start_timeout_s": 60,
            },
            "candidate": {"speculative_config": {"method": "mtp", "num_speculative_tokens": K}},
            "arms": list(arms),
            "policy": {**LENIENT, **(policy or {})},
        },
        "test",
    )
    return run_gate(config, SilentReporter())


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    return launch(tmp_path_factory.mktemp("launched"), arms=(SMALL,))


def test_a_small_cache_has_servers_of_its_own(sound: GateOutcome) -> None:
    assert sound.codes == {}, sound.verdict.reasons
    logs = {name: (sound.folder / f"{name}.log").read_text() for name in ("baseline", "candidate")}
    assert all(text.count("non-default args") == 2 for text in logs.values())
    (arm,) = rows(sound, "from arms where small_kv")
    assert (arm["arm"], arm["turns"]) == ("crowded", 20)
    (run,) = rows(sound, "select notes from runs")
    assert any("the candidate preempted turns" in note for note in run["notes"])
    states = {bound.name: bound.state for bound in sound.verdict.bounds}
    assert states["greedy_regret_ladder[crowded]"] in ("pass", "not_applicable")


def test_the_store_says_what_differs_and_why(sound: GateOutcome) -> None:
    """Launched alike but for the drafter: the same template, and flags that it explains."""
    found = rows(sound, "select path, template_hash from paths order by path")
    assert [row["path"] for row in found] == ["baseline", "candidate"]
    assert len({row["template_hash"] for row in found}) == 1
    assert re.fullmatch("[0-9a-f]{16}", found[0]["template_hash"])
    differing = rows(sound, "from path_differences where baseline is null")
    assert {"--speculative-config"} <= {row["field"] for row in differing}
    assert all(row["allowed"] for row in differing)


def test_a_small_cache_is_no_point_of_the_speed_up_curve(sound: GateOutcome) -> None:
    assert [r["arm"] for r in rows(sound, "from v_speedup_by_concurrency")] == ["main"]


def test_counters_that_agree_are_no_finding(sound: GateOutcome) -> None:
    (found,) = rows(
        sound,
        "select sum(generated_tokens) as counted, sum(drafts) as drafts from v_server_load "
        "where path = 'candidate' and arm = 'main'",
    )
    (sums,) = rows(
        sound,
        "select sum(completion_tokens) as tokens, sum(drafter_steps) as drafts from captures "
        "where path = 'candidate' and arm = 'main'",
    )
    assert (found["counted"], found["drafts"]) == (sums["tokens"], sums["drafts"])


def test_counters_that_contradict_the_answers_fail(tmp_path: Path) -> None:
    outcome = launch(tmp_path, "counts-double")
    assert outcome.verdict.verdict == "fail"
    assert set(outcome.codes) == {"METRIC_SUM"}
    found = {row["message"].split(" while ")[0] for row in rows(outcome, "from findings")}
    assert any("counted" in message and "draft tokens" in message for message in found)


def test_a_fault_of_preemption_is_found_where_it_is(tmp_path: Path) -> None:
    outcome = launch(tmp_path, "torn-when-small", (SMALL,))
    assert outcome.verdict.verdict == "fail"
    found = rows(outcome, "select distinct code, arm from findings where severity = 'error'")
    assert found == [{"code": "ARGS_NOT_JSON", "arm": "crowded"}]


def test_a_launched_server_that_dies_says_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(ServerError) as caught:
        launch(tmp_path, "dies")
    assert "engine core died of a drafter" in str(caught.value)
    assert "exit code 7" in str(caught.value)
    assert (tmp_path / "out").is_dir()


MOE = {"model_type": "mixtral", "num_local_experts": 8}


def test_the_target_s_own_flips_in_verify_shape_condemn_nobody(tmp_path: Path) -> None:
    light = {"noise_tails": "light"}
    without = launch(tmp_path / "without", "flips-when-verified", policy=light)
    assert "GREEDY_DIVERGENCE" in without.codes
    outcome = launch(tmp_path / "with", "flips-when-verified", policy=light, verify_floor="on")
    assert outcome.codes == {}, outcome.verdict.reasons
    (floor,) = rows(
        outcome,
        "select count(*) as turns, count(*) filter (not equal) as forks from pairs "
        "where comparison = 'verify'",
    )
    assert floor["turns"] == 20
    assert floor["forks"] > 0
    journal = RunFolder(outcome.folder).journal("baseline", "verify")
    steps = [response_of(capture).speculation for capture in JournalReader(journal)]
    assert all(not any(s.accepted or ()) for s in steps if s is not None)


def test_a_mixture_of_experts_is_judged_by_rates_alone(tmp_path: Path) -> None:
    """Without a GPU there is no floor in verify shape; that the tails are heavy is seen anyway."""
    outcome = launch(tmp_path, "flips-when-verified", target=MOE)
    assert "GREEDY_DIVERGENCE" not in outcome.codes
    (run,) = rows(outcome, "select policy->>'noise_tails' as tails, notes from runs")
    assert run["tails"] == "heavy"
    assert any("num_local_experts is 8" in note for note in run["notes"])
