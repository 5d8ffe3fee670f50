"""`draftgate advise` on a run small enough to work out by hand."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from checks.stats.session_interval import Estimate, not_available
from draftgate.advising import Advice, BandSpeedup, Payoff, fallback_ratio, payoff_of
from draftgate.cli import run
from draftgate.commands.advise import sentence
from reports.schema.records import RunTables
from reports.store.store import Store
from tests.support.profiled import acceptance_of, speed_of

ACCEPTED = [2] * 30 + [1] * 15 + [0] * 15
"""60 steps of k = 2: 75 drafts accepted, acceptance length 1 + 75 / 60 = 2.25."""

Row = dict[str, Any]


def exchange(
    name: str,
    session: str,
    accepted: list[int],
    step_ms: float,
    arm: str = "main",
    template: str = "swe",
) -> dict[str, list[Row]]:
    """The candidate's rows of one session, and both captures; baseline steps take 10 ms."""
    tokens = 1 + sum(a + 1 for a in accepted)
    tpot = step_ms * len(accepted) / max(1, tokens - 1)
    key = {"run": name, "arm": arm, "session": session, "turn": "t0", "attempt": 0}
    capture = {**key, "route": "chat", "status": 200, "ended": "done", "completion_tokens": tokens}
    candidate = {**key, "path": "candidate"}
    steps, positions, at = [], [], 1
    for step, count in enumerate(accepted, 1):
        facts = {"drafted": 2, "accepted": count, "committed": count + 1}
        steps.append({**candidate, "step": step, **facts, "first_token": at, "label": "code"})
        for i in range(2):
            reached = i <= count
            row = {"position": i, "reached": reached, "accepted": i < count}
            place = {"token_index": at + i, "label": "code", "distance": "8+"} if reached else {}
            of_turn = {"template": template, "context_band": "0-8k"}
            positions.append({**candidate, "step": step, **row, **place, **of_turn})
        at += count + 1
    return {
        "captures": [
            {**capture, "path": "baseline", "tpot_ms": 10.0},
            {**capture, "path": "candidate", "tpot_ms": tpot},
        ],
        "steps": steps,
        "draft_positions": positions,
    }


def speed_rows(name: str, arm: str, speedup: float) -> list[Row]:
    """The measured speed-ups of a further arm."""
    facts = {"run": name, "dimension": "arm", "slice": arm, "value": speedup, "n": 4, "sessions": 4}
    interval = {"low": speedup - 0.1, "high": speedup + 0.1}
    names = ("speedup_tpot_ms", "speedup_ms_per_token")
    return [{**facts, **interval, "name": metric, "path": "candidate"} for metric in names]


def stored(
    folder: Path,
    accepted: list[int],
    step_ms: float,
    further: dict[str, Row] | None = None,
    *,
    other: list[int] | None = None,
    aligned: bool = True,
) -> Path:
    """A run of twelve sessions alike, and as many of another template whose drafts go as `other`.

    `further` holds the facts of more arms, and the speed-up measured there. A run that is not
    `aligned` has no steps.
    """
    name, sessions = "run-1", {f"s{i}": "swe" for i in range(12)}
    if other is not None:
        sessions |= {f"o{i}": "chat" for i in range(12)}
    rows: dict[str, list[Row]] = {"captures": [], "steps": [], "draft_positions": [], "arms": []}
    rows["metrics"] = []
    for arm, facts in (further or {}).items():
        rows["metrics"] += speed_rows(name, arm, facts.pop("speedup"))
        rows["arms"].append({"run": name, "arm": arm, **facts})
    for session, template in sessions.items():
        kept = accepted if template == "swe" else other or []
        for arm in ("main", *(further or {})):
            for table, new in exchange(name, session, kept, step_ms, arm, template).items():
                if aligned or table == "captures":
                    rows[table] += [
                        row | {"aligned": aligned} if "tpot_ms" in row else row for row in new
                    ]
    of_run: Row = {"run": name, "started_at": datetime(2026, 1, 1, tzinfo=UTC), "concurrency": 4}
    of_run |= {"verdict": "pass", "reasons": [], "tool_version": "0"}
    turns = [
        {"run": name, "session": s, "turn": "t0", "turn_index": 0, "replayable": True}
        for s in sessions
    ]
    rows["metrics"] += speed_of(name, rows["captures"])
    profiles = [
        acceptance_of(name, rows["steps"], rows["draft_positions"], {}, arm)
        for arm in ("main", *(further or {}))
        if aligned
    ]
    for profile in profiles:
        for table, found in profile.items():
            rows.setdefault(table, []).extend(found)
    tables = RunTables(
        runs=[of_run],
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
    """2.25 tokens per step of 15 ms, where the baseline takes 10 ms per token: 22.5 / 15."""
    db = stored(tmp_path, ACCEPTED, 15.0)
    assert run(["advise", "--json", "--db", str(db)]) == 0
    (advice,) = json.loads(capsys.readouterr().out)["advice"]
    assert (advice["run"], advice["arm"], advice["concurrency"]) == ("run-1", "main", 4)
    assert advice["num_speculative_tokens_run"] == 2
    assert advice["fallback_ratio"] == pytest.approx(15 / 60)
    assert (advice["enable"], advice["state"]) == (True, "pays")
    for measured in advice["measured_speedup"].values():
        assert measured["value"] == pytest.approx(1.5)
        assert measured["sessions"] == 12
    assert advice["acceptance_length"]["value"] == pytest.approx(2.25)
    assert advice["acceptance_length"]["count"] == 12 * 60
    swe = next(one for one in advice["acceptance"] if one["dimension"] == "template")
    assert (swe["slice"], swe["low"]) == ("swe", False)


def test_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = stored(tmp_path, ACCEPTED, 15.0)
    assert run(["advise", "run-1", "--db", str(db)]) == 0
    said = capsys.readouterr().out
    assert "Enable it: it pays (speed-up per token 1.500 [1.500, 1.500])." in said
    assert "25% of steps accept or draft nothing" in said
    assert "measured: per turn 1.500 [1.500, 1.500], per token 1.500 [1.500, 1.500]" in said
    assert "acceptance length 2.250 [2.250, 2.250]; no slice is lower" in said
    assert "template swe" not in said
    assert run(["advise", "run-1", "--all", "--db", str(db)]) == 0
    assert "template swe" in capsys.readouterr().out


def test_slices_that_lose_drafts_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Template swe keeps 2.25; in chat, as many steps, nothing is accepted: 1, and 1.625 in all."""
    db = stored(tmp_path, ACCEPTED, 15.0, other=[0] * 60)
    assert run(["advise", "--json", "--db", str(db)]) == 0
    (advice,) = json.loads(capsys.readouterr().out)["advice"]
    assert advice["acceptance_length"]["value"] == pytest.approx(1.625)
    low = [(one["dimension"], one["slice"]) for one in advice["acceptance"] if one["low"]]
    assert low == [("template", "chat")]
    assert run(["advise", "--db", str(db)]) == 0
    assert "low  template chat  1.000" in capsys.readouterr().out


def test_a_drafter_that_costs_is_left_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = stored(tmp_path, [0] * 57 + [1] * 3, 15.0)
    assert run(["advise", "--json", "--db", str(db)]) == 0
    (advice,) = json.loads(capsys.readouterr().out)["advice"]
    assert (advice["enable"], advice["state"]) == (False, "costs")


def test_what_cannot_be_advised_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = stored(tmp_path, ACCEPTED, 15.0)
    assert run(["advise", "run-2", "--db", str(db)]) == 2
    assert "did you mean run-1" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    db = stored(tmp_path / "empty", [], 15.0)
    assert run(["advise", "--db", str(db)]) == 2
    assert "no turn has a time per token on both paths" in capsys.readouterr().err


def test_without_aligned_drafts_the_speed_still_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = stored(tmp_path, ACCEPTED, 15.0, aligned=False)
    assert run(["advise", "--db", str(db)]) == 0
    said = capsys.readouterr().out
    assert "Enable it: it pays" in said
    assert "no drafted position could be aligned" in said


def test_every_concurrency_of_a_run_has_its_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 16 sessions it costs. Other arms are no servers of daily use."""
    curve = {"prefix_cache": True, "small_kv": False, "perturb": []}
    further = {
        "c16": {**curve, "concurrency": 16, "speedup": 0.75},
        "cold": {**curve, "concurrency": 4, "prefix_cache": False, "speedup": 0.75},
        "small-kv": {**curve, "concurrency": 4, "small_kv": True, "speedup": 0.75},
        "date-line": {**curve, "concurrency": 4, "perturb": ["date_line"], "speedup": 0.75},
    }
    db = stored(tmp_path, ACCEPTED, 15.0, further)
    assert run(["advise", "--json", "--db", str(db)]) == 0
    found = json.loads(capsys.readouterr().out)["advice"]
    said = {(a["arm"], a["concurrency"]): a for a in found}
    assert set(said) == {("main", 4), ("c16", 16)}
    assert said["main", 4]["enable"] is True
    assert said["c16", 16]["enable"] is False
    measured = said["c16", 16]["measured_speedup"]["per_token"]
    assert measured["value"] == pytest.approx(0.75)
    assert run(["advise", "--db", str(db)]) == 0
    text = capsys.readouterr().out
    assert "run run-1 arm c16  k = 2, concurrency 16" in text
    assert "Leave it off" in text


@pytest.mark.parametrize(
    ("low", "high", "payoff"),
    [
        (1.01, 1.2, "pays"),
        (0.8, 0.99, "costs"),
        (0.9, 1.1, "undecided"),
        (1.0, 1.2, "undecided"),
        (None, None, "undecided"),
    ],
)
def test_an_interval_decides(low: float | None, high: float | None, payoff: Payoff) -> None:
    assert payoff_of(Estimate(1.1, low, high, 100, 20)) == payoff


def test_what_a_context_band_decides_is_not_called_undecided() -> None:
    """The sentence never contradicts a row below it."""
    whole = Estimate(1.0, 0.9, 1.1, 100, 20)
    bands = (
        BandSpeedup("0-8k", Estimate(1.2, 1.1, 1.3, 50, 20), "pays"),
        BandSpeedup("8k-16k", Estimate(1.0, 0.9, 1.1, 20, 20), "undecided"),
        BandSpeedup("16k-32k", Estimate(0.8, 0.7, 0.9, 30, 20), "costs"),
    )
    length = not_available(0, 0)
    advice = Advice("r", "main", 4, 3, 0.1, whole, whole, "undecided", bands, length, ())
    said = sentence(advice)
    assert said.startswith("It depends on the context: pays at 0-8k, costs at 16k-32k; ")
    assert sentence(replace(advice, bands=bands[1:2])).startswith("Not decided: ")


def test_the_fallback_ratio_counts_steps_without_a_draft_too() -> None:
    assert fallback_ratio(empty=3, drafting=10, steps=12) == pytest.approx(5 / 12)
    assert fallback_ratio(empty=0, drafting=0, steps=4) == 1.0
    assert fallback_ratio(0, 0, 0) is None
