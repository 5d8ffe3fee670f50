"""Control: sampled tokens drawn again at 1.1 times the temperature; `SAMPLED_SHIFT` must fire.

Every position keeps its prefix and its list; only the token that stands there is redrawn, from the
tempered law of that position.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from checks import findings as codes
from checks.bounds import ControlResult
from checks.policy import Policy
from checks.sampled.distribution import Floats, Ints, Law, TopLists, law_of
from checks.sampled.judge import judge_sampled
from checks.sampled.pit import pit_draws
from checks.sampled.sampling import sampling_of
from checks.sampled.surprisal import LEAST
from checks.sampled.turn import SampledTurn, reason_not_judged

KIND = "tokens redrawn at temperature 1.1"
FACTOR = 1.1
ENOUGH = 5.0
"""Expected Z of the surprisal martingale from which the control is sure to be seen: the Holm level
0.001 over four tests needs 3.66, and 1.28 more for power 0.9."""


def tempered(law: Law) -> Floats:
    """The cells' masses at 1.1 times the temperature."""
    raised = law.probs ** (1.0 / FACTOR)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def expected_z(laws: Sequence[Law]) -> float:
    """Z of the surprisal martingale that redrawn tokens are expected to give."""
    shift = spread = 0.0
    for law in laws:
        probs, raised = law.probs[law.judged], tempered(law)[law.judged]
        value = -np.log(np.maximum(probs, LEAST))
        mean = (probs * value).sum(axis=1)
        shift += float((raised * value).sum() - mean.sum())
        spread += float((probs * value**2).sum() - (mean**2).sum())
    return shift / spread**0.5 if spread > 0 else 0.0


def redraw(lists: TopLists, law: Law, draws: Floats) -> TopLists:
    """Another token at every judged position; -1 stands for one that is not listed."""
    cells = (draws[:, None] > tempered(law).cumsum(axis=1)).sum(axis=1)
    hit = law.cells == cells[:, None]
    drawn = np.take_along_axis(law.ids, hit.argmax(axis=1)[:, None], axis=1)[:, 0]
    tokens: Ints = np.where(hit.any(axis=1) & (cells < law.ids.shape[1]), drawn, -1)
    return replace(lists, tokens=np.where(law.judged, tokens, lists.tokens))


def judge_temperature_control(
    turns: Sequence[SampledTurn], policy: Policy, seed: int
) -> ControlResult:
    """Redraw every judged turn of the candidate and judge the run again."""
    expected = codes.SAMPLED_SHIFT
    usable = [(t, t.candidate) for t in turns if reason_not_judged(t) is None and t.candidate]
    if not turns:
        return ControlResult(KIND, expected, "not_applicable", (), "no turn is sampled")
    laws = [law_of(lists, sampling_of(turn.request)) for turn, lists in usable]
    z = expected_z(laws)
    if z < ENOUGH:
        few = f"expected Z is {z:.2f}, {ENOUGH:.0f} is wanted: too few sampled tokens"
        return ControlResult(KIND, expected, "no_data", (), few)
    planted = [
        replace(
            turn,
            candidate=redraw(lists, law, pit_draws(seed + 2, turn.session, turn.turn, len(lists))),
            drafts=None,
        )
        for (turn, lists), law in zip(usable, laws, strict=True)
    ]
    judged = judge_sampled(planted, policy, seed)
    fired = tuple(sorted({finding.code for finding in judged.findings}))
    detail = f"{sum(len(lists) for _, lists in usable)} tokens redrawn, expected Z {z:.1f}"
    return ControlResult(KIND, expected, "caught" if expected in fired else "missed", fired, detail)
