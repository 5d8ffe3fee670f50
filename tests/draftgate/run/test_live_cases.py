"""The faults of the case files as live servers: found in one session each, and on one path alone.

Acceptance, shifts of scores and of sampled tokens are statistics of a run, with tests of their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.hostile_server import HostileServer, Raw
from tests.support.live_cases import LiveCase, case_of, live_cases, stream, write_case_sessions
from tests.support.paper.gate import K, paper_config, rows
from tests.support.paper.model import START, Vocabulary
from tests.support.paper.server import Faults, served
from tests.support.paper.sessions import write_sessions

CASES = live_cases()
Answer = Callable[[LiveCase], Raw]


def gate(
    folder: Path, cases: Sequence[LiveCase], baseline: Answer, candidate: Answer
) -> GateOutcome:
    """A gate over sound sessions and those of the cases, which the two servers answer so."""
    words = Vocabulary()

    def attack(answer: Answer) -> Callable[[str, dict[str, Any]], Raw | None]:
        def attacked(route: str, body: dict[str, Any]) -> Raw | None:
            if route == "/v1/completions" and words.id(START) not in body["prompt"]:
                return Raw([b"{}"], 400)  # no tokens of the paper model: it cannot score them
            case = case_of(body, cases) if route == "/v1/chat/completions" else None
            if case is None:
                return None
            # The text that leaks is that of the next case, which must be in flight beside it.
            pause_s = 0.1 if case.name.startswith("cross_request_leak") else 0.0
            return replace(answer(case), pause_s=pause_s)

        return attacked

    pair = (
        HostileServer(words, attack=attack(baseline)),
        HostileServer(words, Faults(drafts=K), attack=attack(candidate)),
    )
    write_sessions(folder / "sessions.jsonl", 6, 2)
    log = write_case_sessions(folder / "cases.jsonl", cases)
    with served(*pair):
        config = paper_config(folder, pair)
        sessions = (*config.run.sessions, str(log))
        run = config.run.model_copy(update={"sessions": sessions})
        return run_gate(config.model_copy(update={"run": run}), SilentReporter())


def codes_of(outcome: GateOutcome, severity: str) -> dict[str, set[str]]:
    """Codes by session."""
    found: dict[str, set[str]] = {}
    sql = (
        f"select session, code from findings where severity = '{severity}' and session is not null"
    )
    for row in rows(outcome, sql):
        found.setdefault(row["session"], set()).add(row["code"])
    return found


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
