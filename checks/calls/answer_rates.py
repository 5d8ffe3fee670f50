"""What cannot be compared word by word is compared as rates: calls, lengths, how answers end.

Sampled turns are two draws, and behind a near tie stands another text. Yet of many turns the two
paths must call as often, write as much and end alike: under speculation that changes nothing, which
of the two answers is the candidate's is a toss of a coin. So the difference of every session is as
likely with the other sign (Fisher's sign-flip test), beyond a margin that nobody would miss.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checks.alpha import level as share_of
from checks.findings import ANSWERS_SHIFTED, Finding, NotJudged
from checks.stats.session_interval import Estimate, clustered, ratio
from checks.stats.sign_flip import sign_flip
from checks.stats.witnesses import rows_of
from traces.wire.response import Response

RATES_LEVEL = share_of("answers_shifted")
"""Of all tests of a run together: each quantity in both directions (Bonferroni)."""
LEAST_SESSIONS = 16
"""From 15 sessions on one arrangement of signs is as rare as that; drawn ones need a few more."""

QUANTITIES = ("calls", "tokens", "cut", "empty")
MARGINS = (0.02, 0.05, 0.02, 0.02)
"""Of turns that call a tool, end at a limit, or hold neither text nor call: a share of turns. Of
tokens: a share of the baseline's."""

Sums = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TurnRates:
    """One turn on both paths: what each answer holds, (baseline, candidate) of each quantity.

    `seed` is the one that a sampled turn was sent with: sessions that share one count as one.
    """

    session: str
    values: tuple[tuple[float, float], ...]
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class RateDifference:
    """One quantity: its mean per turn on both paths, and the difference with its 95% interval."""

    name: str
    baseline: float
    candidate: float
    difference: Estimate
    p: float | None


@dataclass(frozen=True, slots=True)
class RatesJudgement:
    """Every quantity, the findings, and why there are none."""

    differences: tuple[RateDifference, ...]
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]


def turn_rates(
    session: str, baseline: Response, candidate: Response, seed: int | None = None
) -> TurnRates | None:
    """What both answers hold; `None` where one of them is refused or its length not known."""
    sides = (baseline, candidate)
    lengths = [_length(side) for side in sides]
    if {side.status for side in sides} != {200} or None in lengths:
        return None
    held = (
        [float(bool(side.tool_calls)) for side in sides],
        [float(length or 0) for length in lengths],
        [float(side.finish_reason == "length") for side in sides],
        [float(not side.tool_calls and not side.content.strip()) for side in sides],
    )
    return TurnRates(session, tuple((pair[0], pair[1]) for pair in held), seed)


def _length(response: Response) -> int | None:
    if response.token_ids is not None:
        return len(response.token_ids)
    return None if response.usage is None else response.usage.completion


def judge_rates(turns: Sequence[TurnRates], seed: int) -> RatesJudgement:
    """Each quantity in both directions, by sessions."""
    rows, count = rows_of([(turn.session, turn.seed) for turn in turns])
    if count < LEAST_SESSIONS:
        why = f"{count} sessions have turns that are not compared word by word"
        if len({turn.session for turn in turns}) > count:
            why += ", those that share a seed taken as one"
        few = NotJudged(ANSWERS_SHIFTED, f"{why}, {LEAST_SESSIONS} wanted") if turns else None
        return RatesJudgement((), (), () if few is None else (few,))
    sums = np.zeros((count, len(QUANTITIES), 3))
    for row, turn in zip(rows, turns, strict=True):
        for place, (baseline, candidate) in enumerate(turn.values):
            sums[row, place] += (baseline, candidate, 1)
    found = [_difference(place, sums[:, place], seed) for place in range(len(QUANTITIES))]
    level = RATES_LEVEL / (2 * len(QUANTITIES))
    shifted = [one for one in found if one.p is not None and one.p <= level]
    return RatesJudgement(tuple(found), tuple(map(_finding, shifted)), ())


def _difference(place: int, sums: Sums, seed: int) -> RateDifference:
    turns = float(sums[:, 2].sum())
    baseline, candidate = float(sums[:, 0].sum() / turns), float(sums[:, 1].sum() / turns)
    differences = sums[:, 1] - sums[:, 0]
    by_turn = np.column_stack([differences, sums[:, 2]])
    # Of tokens the margin is a share of the baseline's own in the session.
    allowed = MARGINS[place] * (sums[:, 0] if QUANTITIES[place] == "tokens" else sums[:, 2])
    beyond = differences - allowed if candidate > baseline else -differences - allowed
    p = sign_flip(beyond.tolist(), seed).p if beyond.sum() > 0 else None
    estimate = clustered(ratio, by_turn, int(turns), seed=seed)
    return RateDifference(QUANTITIES[place], baseline, candidate, estimate, p)


WORDS = {
    "calls": "share of turns that call a tool",
    "tokens": "tokens of an answer",
    "cut": "share of turns that end at a limit",
    "empty": "share of turns without text or call",
}


def _finding(one: RateDifference) -> Finding:
    return Finding(
        ANSWERS_SHIFTED,
        f"{WORDS[one.name]}, of turns that cannot be compared word by word: {one.candidate:.3g}, "
        f"the baseline has {one.baseline:.3g} (p = {one.p:.1g}, by session)",
        detail={"quantity": one.name},
    )
