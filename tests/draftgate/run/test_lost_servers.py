"""Servers that crash, restart or lose connections while they answer, though the retry succeeds."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.paper.gate import K, paper_config, paper_paths, rows
from tests.support.paper.server import Faults, PaperServer
from tests.support.paper.sessions import write_sessions

Request = dict[str, Any]


@pytest.fixture(autouse=True)
def _few_sessions(tmp_path: Path) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 12, 2)


class Crash:
    """The first time a turn of the main arm is asked for, its connection is lost."""

    def __init__(self, *turns: str, restart: bool = False, times: int = 1):
        self.restart = restart
        self.left = {f"Task {turn}:": times for turn in turns}
        self.server: PaperServer | None = None

    def __call__(self, request: Request) -> float | None:
        last = str(request["messages"][-1]["content"])
        name = next((name for name in self.left if last.startswith(name)), None)
        salt = str(request.get("cache_salt", ""))
        if name is None or not self.left[name] or not salt.endswith("-main"):
            return None
        self.left[name] -= 1
        if self.restart and self.server is not None:
            self.server.restart()
        return 0.0


def never(request: Request) -> None:
    """No connection is lost."""


def gate(
    folder: Path, candidate: Crash | None = None, baseline: Crash | None = None
) -> GateOutcome:
    faults = [Faults(loses=baseline or never), Faults(drafts=K, loses=candidate or never)]
    with paper_paths(faults[1], faults[0]) as servers:
        for server, crash in zip(servers, (baseline, candidate), strict=True):
            server.faults.started = time.time() - 3600
            if crash is not None:
                crash.server = server
        return run_gate(paper_config(folder, servers), SilentReporter())


def found(outcome: GateOutcome) -> list[dict[str, Any]]:
    sql = "select severity, message, detail, session, turn from findings "
    return rows(outcome, sql + "where code = 'SERVER_RESTARTED'")


def test_a_candidate_that_restarts_with_turns_in_flight_fails(tmp_path: Path) -> None:
    outcome = gate(tmp_path, Crash("3.1", "5.0", restart=True))
    assert (outcome.verdict.verdict, outcome.codes) == ("fail", {"SERVER_RESTARTED": 1})
    (row,) = found(outcome)
    assert "the candidate's server restarted in arm main" in row["message"]
    assert json.loads(row["detail"])["turns"] == ["s3/t0001", "s5/t0000"]
    assert outcome.counts["turns_judged"] == 24
    started = rows(outcome, "select count(distinct started) n from server_samples group by path")
    assert sorted(row["n"] for row in started) == [1, 2]


def test_a_baseline_that_restarts_is_a_note(tmp_path: Path) -> None:
    outcome = gate(tmp_path, baseline=Crash("3.1", restart=True))
    assert (outcome.codes, found(outcome)) == ({}, [])
    words = "the baseline's server restarted in arm main while it was answering: session s3"
    assert any(words in note for note in outcome.notes), outcome.notes


def test_where_both_lose_a_connection_it_is_a_warning(tmp_path: Path) -> None:
    outcome = gate(tmp_path, Crash("3.1"), Crash("4.1"))
    assert outcome.codes == {}
    (row,) = found(outcome)
    assert (row["session"], row["turn"], row["severity"]) == ("s3", "t0001", "warning")
    assert "the candidate's server lost the connection in arm main" in row["message"]


def test_a_restart_with_no_turn_in_flight_is_a_note(tmp_path: Path) -> None:
    """Between two turns: nothing is lost but the prefix cache and the counters."""

    class Between(Crash):
        def __call__(self, request: Request) -> float | None:
            super().__call__(request)
            return None

    outcome = gate(tmp_path, Between("3.1", restart=True))
    assert outcome.codes == {}
    assert found(outcome) == []
    (note,) = [note for note in outcome.notes if "server restarted" in note]
    assert note.startswith("the candidate's server restarted in arm main, with no turn in")


def test_a_turn_that_is_lost_every_time_is_a_mismatch_and_the_run_goes_on(tmp_path: Path) -> None:
    outcome = gate(tmp_path, Crash("3.1", times=99))
    assert outcome.verdict.verdict == "fail"
    assert outcome.codes == {"SERVER_RESTARTED": 1, "HTTP_STATUS_MISMATCH": 1}
    (row,) = rows(outcome, "select * from findings where code = 'HTTP_STATUS_MISMATCH'")
    assert (row["session"], row["turn"]) == ("s3", "t0001")
    assert "the candidate gives no answer (ServerDisconnectedError" in row["message"]
