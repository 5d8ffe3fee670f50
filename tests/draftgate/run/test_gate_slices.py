"""Slices of a gate run over paper servers: named after the recordings, stored, shown."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from reports.sql.query import answer
from reports.store.store import Store
from tests.support.paper.gate import K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions
from tests.support.paper.stream import Stream


def write_tagged(file: Path, sessions: int, turns: int) -> None:
    """Every third session is of team `b`, and every one has a tag of its own."""
    write_sessions(file, sessions, turns)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["metadata"] = {"team": "a" if number % 3 else "b", "ticket": str(number)}
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def of_team_b(request: dict[str, Any]) -> bool:
    """Facts are asked with prompts that are no task of a session."""
    task = re.search(r"Task (\d+)\.", str(request["messages"]))
    return task is not None and int(task[1]) % 3 == 0


def torn_for_team_b(stream: Stream, request: dict[str, Any]) -> None:
    if of_team_b(request):
        for call in stream.calls:
            call["arguments"] = call["arguments"][:-1]


def gate_of(folder: Path, candidate: Faults) -> GateOutcome:
    write_tagged(folder / "sessions.jsonl", 24, 4)
    with paper_paths(candidate) as servers:
        return run_gate(paper_config(folder, servers), SilentReporter())


def slices(outcome: GateOutcome) -> dict[tuple[str, str], dict[str, Any]]:
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        return {(row["dimension"], row["slice"]): row for row in store.rows("from v_slices")}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    return gate_of(tmp_path_factory.mktemp("sound"), Faults(drafts=K))


def test_slices_hold_up_no_sound_run(sound: GateOutcome) -> None:
    assert sound.verdict.verdict == "pass", sound.verdict.reasons
    found = slices(sound)
    assert set(found) == {("tag", "team=a"), ("tag", "team=b"), ("tool", "read_file")}
    team = found["tag", "team=a"]
    assert (team["sessions"], team["turns"], team["verdict"]) == (16, 64, "inconclusive")
    assert (team["errors"], team["regret_p"], team["tool_p"]) == (0, 1.0, 1.0)
    assert 0 < team["regret_limit"] < 1
    assert team["tool_difference"] == 0
    assert -1 < team["tool_limit"] < 0
    assert team["acceptance_low"] < team["acceptance_difference"] < team["acceptance_high"]


def test_the_acceptance_of_a_slice_is_that_of_the_views(sound: GateOutcome) -> None:
    assert sound.store is not None
    with Store.open(sound.store) as store:
        tags = store.rows("from v_acceptance_by_tag where path = 'candidate' and arm = 'main'")
    found = slices(sound)
    assert {row["tag"] for row in tags} >= {"team=a", "team=b", "ticket=0"}
    for row in tags:
        if row["tag"].startswith("team"):
            mine = found["tag", row["tag"]]
            assert mine["acceptance_length"] == pytest.approx(row["acceptance_length"])
            assert mine["conditional_acceptance"] == row["conditional_acceptance"]


def test_a_fault_of_one_team_is_reported(tmp_path: Path) -> None:
    outcome = gate_of(tmp_path, Faults(drafts=K, spoil=torn_for_team_b))
    assert outcome.verdict.verdict == "fail"
    found = slices(outcome)
    assert found["tag", "team=b"]["verdict"] == "fail"
    assert found["tag", "team=b"]["errors"] > 0
    assert found["tag", "team=b"]["tool_difference"] < -0.3
    assert found["tag", "team=a"]["verdict"] == "inconclusive"
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        first, *_ = answer(store, "slices").rows.to_pylist()
    assert first["verdict"] == "fail"
    assert outcome.report is not None
    assert "team=b" in outcome.report.read_text()
