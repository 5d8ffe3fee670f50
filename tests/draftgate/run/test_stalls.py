"""A stream that stands still: fails where the turn does it again, and not for one pause."""

from collections.abc import Callable
from typing import Any

import pytest

from checks.exact import stream
from checks.findings import CHUNK_STALL, Finding
from checks.run.reruns import labelled_stall
from draftgate.run.folder import RunFolder
from draftgate.run.offline import judge_journals
from draftgate.run.outcome import GateOutcome
from reports.store.store import Store
from tests.support.paper.gate import Gate, K
from tests.support.paper.server import Faults

STALL_S = 1.0
Stalls = Callable[[dict[str, Any]], float]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second is a stall, so that the tests are quick and a busy machine's hiccup is none."""
    monkeypatch.setattr(stream, "STALL_MS", 500.0)


def plain(request: dict[str, Any]) -> bool:
    """Whether a request is one as users send it, in its first replay or a re-run."""
    return "-candidate-plain" in str(request.get("cache_salt", ""))


def once(found: list[str]) -> Stalls:
    """Stands still in the first plain request, and never again."""

    def stall(request: dict[str, Any]) -> float:
        if not plain(request) or found:
            return 0.0
        found.append(str(request["messages"]))
        return STALL_S

    return stall


def always(found: list[str]) -> Stalls:
    """Stands still in one turn, whenever it is sent as users send it."""

    def stall(request: dict[str, Any]) -> float:
        if not plain(request):
            return 0.0
        turn = str(request["messages"])
        if not found:
            found.append(turn)
        return STALL_S if turn == found[0] else 0.0

    return stall


def stalls(outcome: GateOutcome) -> list[tuple[str, str]]:
    """Severity and last words of the stalls in the store."""
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        rows = store.rows(
            "select severity, message from findings where run = ? and code = 'CHUNK_STALL'",
            [outcome.run],
        )
    return [(row["severity"], row["message"].rpartition("; ")[2]) for row in rows]


def test_a_pause_that_does_not_come_back_is_a_warning(gate: Gate) -> None:
    outcome = gate(Faults(drafts=K, stalls=once([])))
    assert "CHUNK_STALL" not in outcome.codes
    assert outcome.verdict.verdict == "pass"
    assert stalls(outcome) == [("warning", "0 of 3 re-runs show it: a pause of the machine")]
    assert outcome.folder is not None
    folder = RunFolder(outcome.folder)
    journals = [folder.journal(path, "main") for path in ("baseline", "candidate")]
    assert "CHUNK_STALL" not in judge_journals(journals, None).codes
    for again in folder.journals():  # without re-runs nothing is excused
        if "plain-rerun" in again.name:
            again.unlink()
    assert judge_journals(journals, None).codes["CHUNK_STALL"] == 1


def test_a_turn_that_stands_still_again_fails(gate: Gate) -> None:
    outcome = gate(Faults(drafts=K, stalls=always([])))
    assert outcome.codes["CHUNK_STALL"] == 1
    assert outcome.verdict.verdict == "fail"
    assert stalls(outcome) == [("error", "deterministic: 3 of 3 re-runs show it")]


@pytest.mark.parametrize(
    ("places", "severity"), [((4,), "error"), ((9,), "warning"), ((9, 20), "error")]
)
def test_a_stall_comes_back_at_its_place_or_in_most_re_runs(
    places: tuple[int, ...], severity: str
) -> None:
    """The first stall was before chunk 5; others of the three re-runs do not stall."""
    turn = ("s", "t")
    reruns = [*places, *[None] * (3 - len(places))]
    finding = Finding(CHUNK_STALL, "2000 ms", session="s", turn="t", detail={"chunk": 5})
    assert labelled_stall(finding, {turn: reruns}, named=False).severity == severity
