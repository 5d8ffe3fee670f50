"""Control: scores of equal tokens moved by 0.1 nat; `LOGPROBS_SHIFTED` must fire.

What a damaged KV cache does before it changes a token. Each score is moved away from the
baseline's, so that a candidate whose own scores are off cannot cancel it. The copies go the way of
the run: measured turn by turn, then judged by sessions against the run's own noise.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from checks import findings as codes
from checks.bounds import ControlResult
from checks.findings import ERROR
from checks.greedy.shift import LEAST_SESSIONS, ShiftJudgement, TurnShift, judge_shift, shift_of
from checks.greedy.turn import GreedyTurn
from checks.policy import Policy
from traces.wire.response import Response
from traces.wire.tokens import Tokens

KIND = "scores of equal tokens shifted"
SHIFT = 0.1
"""Nat per token. One perturbed layer of the embedded target moves scores by 0.025 on average, and
rounding by 0.001 (docs/evidence.md)."""
SLACK = 1.01
"""The shift in multiples of the least that shows: sums of the copies are rounded anew."""


def moved(candidate: Response, baseline: Response) -> Response:
    """The candidate's scores `SHIFT` nat further from the baseline's, all of them below it.

    The alternatives of a token move with it. Tokens beyond the shorter output keep their scores.
    """
    tokens, scores = Tokens.of(candidate.tokens or ()), Tokens.of(baseline.tokens or ()).logprobs
    length = min(len(tokens), len(scores))
    own, beside = tokens.logprobs[:length], scores[:length]
    change = np.zeros(len(tokens))
    change[:length] = beside - np.abs(own - beside) - SHIFT - own
    planted = replace(
        tokens,
        logprobs=tokens.logprobs + change,
        top_logprobs=tokens.top_logprobs + change[tokens.owner],
    )
    return replace(candidate, tokens=planted)


def planted_shift(turn: GreedyTurn, committed: Sequence[int] | None) -> TurnShift | None:
    """The sums of a copy of the turn, as `checks.greedy.shift.shift_of` gives those of the turn."""
    if turn.candidate.tokens is None:
        return None
    return shift_of(replace(turn, candidate=moved(turn.candidate, turn.baseline)), committed)


def judge_scores_control(
    planted: Sequence[TurnShift], own: ShiftJudgement, policy: Policy
) -> ControlResult:
    """Judge the copies of all turns. `own` is the judgement of the run itself, whose spread over
    sessions says whether a shift of this size can show."""
    expected = codes.LOGPROBS_SHIFTED
    if not own.places:
        reason = own.not_judged[0].reason
        return ControlResult(KIND, expected, "not_applicable", (), reason)
    whole = own.places[0]
    if whole.needed is None:
        few = f"{whole.sessions} sessions have scores of equal tokens, {LEAST_SESSIONS} are wanted"
        return ControlResult(KIND, expected, "not_applicable", (), few)
    if whole.needed * SLACK > SHIFT:
        blind = f"only a shift of {whole.needed:.2g} nat or more would show beside rounding"
        return ControlResult(KIND, expected, "not_applicable", (), blind)
    found = judge_shift(planted, policy).findings
    fired = tuple(sorted({finding.code for finding in found if finding.severity == ERROR}))
    detail = f"{whole.tokens:,} scores moved by {SHIFT:g} nat, {whole.needed:.2g} would show"
    return ControlResult(KIND, expected, "caught" if expected in fired else "missed", fired, detail)
