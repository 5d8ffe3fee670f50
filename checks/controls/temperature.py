"""Control: sampled tokens drawn again at 1.1 times the temperature; `SAMPLED_SHIFT` must fire.

Every position keeps its prefix and its list; only the token that stands there is redrawn, from the
tempered distribution of that position.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from checks import findings as codes
from checks.bounds import ControlResult
from checks.policy import Policy
from checks.sampled.distribution import Distribution, Floats, Ints, TopLists, distribution_of
from checks.sampled.judge import judge_scored
from checks.sampled.pit import pit_draws
from checks.sampled.sampling import sampling_of
from checks.sampled.surprisal import LEAST
from checks.sampled.turn import SampledTurn, ScoredTurn, reason_not_judged, score_turn

KIND = "tokens redrawn at temperature 1.1"
FACTOR = 1.1
NOT_PLANTED: Final = "not_applicable"
ENOUGH = 5.4
"""Expected z from which the control is sure to be seen: the Holm level 0.001 over seven two-sided
tests needs 3.98, and 1.28 more for power 0.9."""


def tempered(distribution: Distribution) -> Floats:
    """The cells' masses at 1.1 times the temperature."""
    raised = distribution.probs ** (1.0 / FACTOR)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def shift_of(distribution: Distribution) -> tuple[float, float]:
    """(mean, variance) that redrawing adds to the surprisal of an output's judged positions."""
    probs, raised = (
        distribution.probs[distribution.judged],
        tempered(distribution)[distribution.judged],
    )
    value = -np.log(np.maximum(probs, LEAST))
    mean = (probs * value).sum(axis=1)
    return (
        float((raised * value).sum() - mean.sum()),
        float((probs * value**2).sum() - (mean**2).sum()),
    )


def redraw(lists: TopLists, distribution: Distribution, draws: Floats) -> TopLists:
    """Another token at every judged position; -1 stands for one that is not listed."""
    cells = (draws[:, None] > tempered(distribution).cumsum(axis=1)).sum(axis=1)
    hit = distribution.cells == cells[:, None]
    drawn = np.take_along_axis(distribution.ids, hit.argmax(axis=1)[:, None], axis=1)[:, 0]
    tokens: Ints = np.where(hit.any(axis=1) & (cells < distribution.ids.shape[1]), drawn, -1)
    return replace(lists, tokens=np.where(distribution.judged, tokens, lists.tokens))


@dataclass(frozen=True, slots=True)
class Redrawn:
    """A sampled turn with the candidate's tokens drawn again: its statistics, what redrawing adds
    to its surprisal, and how many tokens it has. Of a turn that is not judged nothing is known."""

    turn: ScoredTurn
    shift: float = 0.0
    spread: float = 0.0
    tokens: int = 0


def redraw_turn(turn: SampledTurn, seed: int) -> Redrawn:
    """Redraw every judged position of the candidate."""
    lists = turn.candidate
    if reason_not_judged(turn) is not None or lists is None:
        return Redrawn(score_turn(turn, seed))
    distribution = distribution_of(lists, sampling_of(turn.request))
    draws = pit_draws(seed + 2, turn.session, turn.turn, len(lists))
    planted = replace(turn, candidate=redraw(lists, distribution, draws), drafts=None)
    return Redrawn(score_turn(planted, seed), *shift_of(distribution), len(lists))


def expected_z(turns: Sequence[Redrawn], margin: float) -> float:
    """Standardized difference of mean surprisal beyond the margin (nat per token) that redrawn
    tokens are expected to show beside as many of the baseline's."""
    spread = sum(one.spread for one in turns)
    beyond = sum(one.shift - margin * one.tokens for one in turns)
    return max(beyond, 0.0) / (2 * spread) ** 0.5 if spread > 0 else 0.0


def judge_temperature_control(
    turns: Sequence[Redrawn], policy: Policy, seed: int, *, required: bool = True
) -> ControlResult:
    """Judge the run again with every turn of the candidate redrawn.

    Where it is not `required`, as of turns that only the gate samples, too few tokens leave it not
    applicable.
    """
    expected = codes.SAMPLED_SHIFT
    if not turns:
        return ControlResult(KIND, expected, "not_applicable", (), "no turn is sampled")
    turns = sorted(turns, key=lambda one: (one.turn.session, one.turn.turn))
    z = expected_z(turns, policy.excess_surprisal_margin)
    if z < ENOUGH:
        few = f"expected Z is {z:.2f}, {ENOUGH:g} is wanted: too few sampled tokens"
        return ControlResult(KIND, expected, "no_data" if required else NOT_PLANTED, (), few)
    judged = judge_scored([one.turn for one in turns if one.tokens], policy, seed)
    fired = tuple(sorted({finding.code for finding in judged.findings}))
    detail = f"{sum(one.tokens for one in turns)} tokens redrawn, expected Z {z:.1f}"
    return ControlResult(KIND, expected, "caught" if expected in fired else "missed", fired, detail)
