"""A gate whose servers answer some sessions with the streams of case files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.hostile_server import HostileServer, Raw
from tests.support.live_cases import LiveCase, case_of, write_case_sessions
from tests.support.paper.gate import K, paper_config, rows
from tests.support.paper.model import START, Vocabulary
from tests.support.paper.server import Faults, served
from tests.support.paper.sessions import write_sessions

Answer = Callable[[LiveCase], Raw]


def gate(
    folder: Path,
    cases: Sequence[LiveCase],
    baseline: Answer,
    candidate: Answer,
    *,
    sound: int = 6,
    concurrency: int | None = None,
) -> GateOutcome:
    """A gate over `sound` sessions of the paper model and one of each case, which the two servers
    answer so; with `concurrency` requests in flight, or as many as the gate's own default."""
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
    write_sessions(folder / "sessions.jsonl", sound, 2)
    log = write_case_sessions(folder / "cases.jsonl", cases)
    with served(*pair):
        config = paper_config(folder, pair)
        changes: dict[str, Any] = {"sessions": (*config.run.sessions, str(log))}
        if not sound:
            changes["sessions"] = (str(log),)
        if concurrency is not None:
            changes["concurrency"] = concurrency
        run = config.run.model_copy(update=changes)
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
