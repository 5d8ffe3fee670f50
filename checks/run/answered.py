"""Were enough turns answered on both paths? What nobody answered was not judged, and is no pass.

    missing = turns without a whole answer on either path;  missing / turns <= MAX_UNANSWERED

A turn that both servers refuse alike (status 4xx) could never be replayed: it is counted apart, as
a turn too long for the servers is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from checks.bounds import Bound
from checks.run.evidence import RunFacts
from traces.journal.arm import MAIN, PLAIN
from traces.journal.exchange import Evidence, Exchange, TurnId
from traces.wire.response import Response

ANSWERED = "answered_turns"

MAX_UNANSWERED = 0.01
"""Largest share of turns that may lack an answer on either path; what nobody answered could hold
any fault."""

Answer = Literal["answered", "refused", "missing"]


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """A turn of one arm, and what each path made of it; `None`: no capture at all."""

    arm: str
    session: str
    turn: str
    baseline: Response | None
    candidate: Response | None

    @property
    def answer(self) -> Answer:
        """Whether both answered in full, both refused alike, or something is missing."""
        sides = (self.baseline, self.candidate)
        if all(side is not None and _whole(side) for side in sides):
            return "answered"
        statuses = {None if side is None else side.status for side in sides}
        (status, *others) = statuses
        return "refused" if not others and status in range(400, 500) else "missing"


def _whole(response: Response) -> bool:
    return response.status == 200 and bool(response.finish_reason)


def answered_bound(turns: Sequence[AnsweredTurn]) -> Bound:
    """Few enough turns lack an answer. `turns` are those of the judged arms and the plain one."""
    answers = [turn.answer for turn in turns]
    missing, refused = answers.count("missing"), answers.count("refused")
    asked = len(turns) - refused
    share = missing / asked if asked else None
    enough = share is not None and share <= MAX_UNANSWERED
    message = f"{missing} of {asked} turns lack an answer on a path"
    if refused:
        message += f"; {refused} more are refused by both"
    if missing:
        first = next(turn for turn in turns if turn.answer == "missing")
        message += f"; the first: session {first.session}, turn {first.turn} (arm {first.arm})"
    return Bound(
        ANSWERED,
        "pass" if enough else "inconclusive",
        message,
        value=share,
        margin=MAX_UNANSWERED,
        unit="share of turns unanswered",
        n=asked,
        needed=None if enough else f"answers of both paths to {missing} turns",
    )


def answered_turns(evidence: Evidence, facts: RunFacts) -> list[AnsweredTurn]:
    """Every turn that was to be sent, or that a path holds, in judged arms and the plain one."""
    found = []
    others: list[tuple[str, list[TurnId]]] = [(a.name, []) for a in facts.arms if a.paired]
    for arm, planned in ((MAIN, list(facts.limits)), (PLAIN, []), *others):
        candidate, baseline = evidence.of("candidate", arm), evidence.of("baseline", arm)
        turns: dict[TurnId, None] = dict.fromkeys([*planned, *baseline, *candidate])
        found += [
            AnsweredTurn(arm, *turn, _response(baseline.get(turn)), _response(candidate.get(turn)))
            for turn in turns
        ]
    return found


def _response(exchange: Exchange | None) -> Response | None:
    return None if exchange is None else exchange.response
