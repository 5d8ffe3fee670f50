"""The faults of the case files as live servers: found in one session each, and on one path alone.

Acceptance, shifts of scores and of sampled tokens are statistics of a run, with tests of their own.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.hostile_server import Raw
from tests.support.live_cases import LiveCase, live_cases, stream
from tests.support.live_gate import Answer, codes_of, gate
from tests.support.paper.gate import rows

CASES = live_cases()


def test_each_fault_of_the_candidate_is_found_and_each_sound_twin_passes(tmp_path: Path) -> None:
    outcome = gate(tmp_path, CASES, LiveCase.baseline, LiveCase.candidate)
    assert outcome.verdict.verdict == "fail"
    found = codes_of(outcome, "error")
    wrong = {}
    for number, case in enumerate(CASES):
        codes = found.pop(f"case-{number}", set())
        if not codes >= case.codes or (codes and not case.codes):
            wrong[case.name] = (sorted(case.codes), sorted(codes))
    assert wrong == {}
    assert found == {}, "a session without a fault is blamed"
    expected = {code for case in CASES for code in case.codes}
    assert len(expected) >= 30, "kinds of faults are missing"


def whole(case: LiveCase, edit: Callable[[list[Any]], list[Any]], *, done: bool = True) -> Raw:
    """The stream of a sound case, edited."""
    return stream(edit(list(case.scenario["candidate"]["chunks"])), done=done)


def shuffled(chunks: list[Any]) -> list[Any]:
    """Events of output in the reverse order."""
    places = [i for i, chunk in enumerate(chunks) if chunk.get("choices")]
    turned = dict(zip(places, reversed(places), strict=True))
    return [chunks[turned.get(place, place)] for place in range(len(chunks))]


def doubled(chunks: list[Any]) -> list[Any]:
    """Every event of output twice."""
    return [one for chunk in chunks for one in ([chunk] * (2 if _output(chunk) else 1))]


def _output(chunk: dict[str, Any]) -> bool:
    (choice, *_) = chunk.get("choices") or [{}]
    return bool(choice.get("token_ids")) and not choice.get("finish_reason")


TEXT, CALL = "dropped_token: good", "args_duplicated: good"

FLAWS: dict[str, tuple[str, Answer, set[str]]] = {
    "no [DONE]": (TEXT, lambda case: whole(case, list, done=False), {"STREAM_NO_DONE"}),
    "text in another order": (TEXT, lambda case: whole(case, shuffled), {"FINISH_REASON_WRONG"}),
    "a call in another order": (CALL, lambda case: whole(case, shuffled), {"TOOL_HEADER_MISSING"}),
    "text twice": (TEXT, lambda case: whole(case, doubled), {"USAGE_UNDERCOUNT"}),
    "a call twice": (CALL, lambda case: whole(case, doubled), {"USAGE_UNDERCOUNT"}),
}
"""Flaws of a server that both paths show: a sound case to put each in, and the warning it gets."""


def test_faults_that_both_paths_show_fail_no_run_and_are_said(tmp_path: Path) -> None:
    sound = {case.name: case for case in CASES}
    cases = [*CASES, *(replace(sound[of], name=name) for name, (of, *_) in FLAWS.items())]

    def answer(case: LiveCase) -> Raw:
        return FLAWS[case.name][1](case) if case.name in FLAWS else case.candidate()

    outcome = gate(tmp_path, cases, answer, answer)
    assert outcome.codes == {}
    assert outcome.verdict.verdict == "inconclusive", outcome.verdict.reasons
    said = codes_of(outcome, "warning")
    missed = {
        name: sorted(said.get(f"case-{len(CASES) + number}", set()))
        for number, (name, (*_, codes)) in enumerate(FLAWS.items())
        if not codes <= said.get(f"case-{len(CASES) + number}", set())
    }
    assert missed == {}
    sql = "select detail, baseline_too from findings where severity = 'warning' and code = "
    assert all(row["baseline_too"] for row in rows(outcome, sql + "'STREAM_NO_DONE'"))
