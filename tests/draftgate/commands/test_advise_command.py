"""`draftgate advise` on a run small enough to work out by hand."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checks.acceptance.advice import SliceCounts, StepTimes, predictions
from checks.acceptance.recommendation import recommend
from checks.stats.session_interval import not_available
from draftgate.advising import Advice
from draftgate.cli import run
from reports.store.records import RunTables
from reports.store.store import Store

ACCEPTED = [2] * 30 + [1] * 15 + [0] * 15
"""60 steps of k = 2: c_0 = 45/60, c_1 = 30/45, acceptance length 1 + 0.75 + 0.5 = 2.25."""

Row = dict[str, Any]


def exchange(
    name: str, session: str, accepted: list[int], step_ms: float, arm: str = "main"
) -> dict[str, list[Row]]:
    """The candidate's rows of one session, and both captures; baseline steps take 10 ms."""
    tokens = 1 + sum(a + 1 for a in accepted)
    tpot = step_ms * len(accepted) / max(1, tokens - 1)
    key = {"run": name, "arm": arm, "session": session, "turn": "t0", "attempt": 0}
    capture = {**key, "status": 200, "ended": "done", "completion_tokens": tokens}
    candidate = {**key, "path": "candidate"}
    steps, positions, at = [], [], 1
    for step, count in enumerate(accepted, 1):
        facts = {"drafted": 2, "accepted": count, "committed": count + 1}
        steps.append({**candidate, "step": step, **facts, "first_token": at, "label": "code"})
        for i in range(2):
            reached = i <= count
            row = {"position": i, "reached": reached, "accepted": i < count}
            place = {"token_index": at + i, "label": "code", "distance": "8+"} if reached else {}
            template = {"template": "swe", "context_band": "0-8k"}
            positions.append({**candidate, "step": step, **row, **place, **template})
        at += count + 1
    return {
        "captures": [
            {**capture, "path": "baseline", "tpot_ms": 10.0},
            {**capture, "path": "candidate", "tpot_ms": tpot, "aligned": True},
        ],
        "steps": steps,
        "draft_positions": positions,
    }


def stored(
    folder: Path, accepted: list[int], step_ms: float, further: dict[str, Row] | None = None
) -> Path:
    """A run of four sessions alike; `further` holds the facts of more arms, and their `step_ms`."""
    name, sessions = "run-1", [f"s{i}" for i in range(4)]
    rows: dict[str, list[Row]] = {"captures": [], "steps": [], "draft_positions": [], "arms": []}
    pace = {"main": step_ms}
    for arm, told in (further or {}).items():
        pace[arm] = told.pop("step_ms")
        rows["arms"].append({"run": name, "arm": arm, **told})
    for session in sessions:
        for arm, ms in pace.items():
            for table, new in exchange(name, session, accepted, ms, arm).items():
                rows[table] += new
    facts: Row = {"run": name, "started_at": datetime(2026, 1, 1, tzinfo=UTC), "concurrency": 4}
    facts |= {"verdict": "pass", "reasons": [], "tool_version": "0"}
    turns = [
        {"run": name, "session": s, "turn": "t0", "turn_index": 0, "replayable": True}
        for s in sessions
    ]
    tables = RunTables(
        runs=[facts],
        paths=[{"run": name, "path": path} for path in ("baseline", "candidate")],
        sessions=[{"run": name, "session": s} for s in sessions],
        turns=turns,
        **rows,
    )
    path = folder / "store.duckdb"
    with Store.open(path, write=True) as store:
        store.load(tables)
    return path


def test_figures_and_recommendation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A step costs 1.5: 2.25 / 1.5 at k = 2, and 1.75 / 1.25 predicted at k = 1."""
    db = stored(tmp_path, ACCEPTED, 15.0)
    assert run(["advise", "--json", "--db", str(db)]) == 0
    (advice,) = json.loads(capsys.readouterr().out)["advice"]
    assert advice["run"] == "run-1"
    assert advice["fallback_ratio"] == pytest.approx(15 / 60)
    whole = {
        p["num_speculative_tokens"]: p for p in advice["predictions"] if p["dimension"] == "all"
    }
    assert whole[2]["acceptance_length"]["value"] == pytest.approx(2.25)
    assert whole[2]["break_even"]["value"] == pytest.approx(1.5)
    assert whole[2]["speedup"]["value"] == pytest.approx(1.5)
    assert whole[1]["speedup"]["value"] == pytest.approx(1.4)
    assert whole[2]["speedup"]["sessions"] == 4
    told = advice["recommendation"]
    assert (told["enable"], told["num_speculative_tokens"], told["concurrency"]) == (True, 2, 4)
    assert told["confirm_by_run"] is False
    assert {"dimension": "template", "slice": "swe"} in told["slices"]["pays"]


def test_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = stored(tmp_path, ACCEPTED, 15.0)
    assert run(["advise", "run-1", "--db", str(db)]) == 0
    said = capsys.readouterr().out
    assert "Enable it with num_speculative_tokens = 2" in said
    assert "25% of steps accept or draft nothing" in said
    assert (
        "measured at k = 2: per turn 1.500 [1.500, 1.500], per token 1.500 [1.500, 1.500]" in said
    )
    assert "template swe" in said


def test_a_drafter_that_costs_is_left_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = stored(tmp_path, [0] * 57 + [1] * 3, 15.0)
    assert run(["advise", "--json", "--db", str(db)]) == 0
    told = json.loads(capsys.readouterr().out)["advice"][0]["recommendation"]
    assert (told["enable"], told["num_speculative_tokens"]) == (False, 0)


def test_what_cannot_be_advised_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = stored(tmp_path, ACCEPTED, 15.0)
    assert run(["advise", "run-2", "--db", str(db)]) == 2
    assert "did you mean run-1" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    db = stored(tmp_path / "empty", [], 15.0)
    assert run(["advise", "--db", str(db)]) == 2
    assert "no drafted position could be aligned" in capsys.readouterr().err


def test_every_concurrency_of_a_run_has_its_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 16 sessions a step costs 3: 2.25 / 3 at k = 2. Other arms are no servers of daily use."""
    curve = {"prefix_cache": True, "small_kv": False, "perturb": []}
    further = {
        "c16": {**curve, "concurrency": 16, "step_ms": 30.0},
        "cold": {**curve, "concurrency": 4, "prefix_cache": False, "step_ms": 30.0},
        "small-kv": {**curve, "concurrency": 4, "small_kv": True, "step_ms": 30.0},
        "date-line": {**curve, "concurrency": 4, "perturb": ["date_line"], "step_ms": 30.0},
    }
    db = stored(tmp_path, ACCEPTED, 15.0, further)
    assert run(["advise", "--json", "--db", str(db)]) == 0
    found = json.loads(capsys.readouterr().out)["advice"]
    told = {(a["arm"], a["recommendation"]["concurrency"]): a["recommendation"] for a in found}
    assert set(told) == {("main", 4), ("c16", 16)}
    assert told["main", 4]["enable"] is True
    assert told["c16", 16]["enable"] is False
    best = told["c16", 16]["speedup"]
    assert best["value"] == pytest.approx(1.75 / 2)
    assert best["low"] <= best["value"] <= best["high"] < 1
    assert run(["advise", "--db", str(db)]) == 0
    said = capsys.readouterr().out
    assert "run run-1 arm c16  k = 2, concurrency 16" in said
    assert "Leave it off" in said


def test_a_smaller_k_is_held_against_its_own_run() -> None:
    """The script behind the table of docs/advice.md: k = 1 predicted of a run at 3, and run."""
    from evidence import smaller_k

    def advice(k: int, accepted: list[list[float]]) -> Advice:
        sessions = tuple(f"s{i}" for i in range(len(accepted)))
        hits = np.array(accepted) * 1000
        reached = np.hstack([np.full((len(sessions), 1), 1000.0), hits[:, :-1]])
        counts = SliceCounts("all", "all", sessions, reached, hits)
        row = [10_000.0, 1000.0, 10_000.0 * (1 + k / 10), 1000.0, 1000.0]
        times = StepTimes(4, sessions, np.tile(row, (len(sessions), 1)))
        found = tuple(predictions([counts], times))
        measured = not_available(0, 0), not_available(0, 0)
        return Advice(f"k{k}", "main", k, 0.0, *measured, found, recommend(found, k))

    at_three = advice(3, [[0.5, 0.3, 0.1], [0.6, 0.3, 0.1], [0.7, 0.3, 0.1]])
    near, far = advice(1, [[0.6]] * 3), advice(1, [[0.1]] * 3)
    same, one = smaller_k.compared({3: at_three, 1: near})
    assert smaller_k.agrees(same)
    assert smaller_k.agrees(one)
    assert one.row.startswith("| 1 | 1.600 [1.352, 1.848] | 1.600 [1.600, 1.600] | 1.455 ")
    assert not smaller_k.agrees(list(smaller_k.compared({3: at_three, 1: far}))[1])
