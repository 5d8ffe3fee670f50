"""Right tokens, wrong numbers: do the candidate's log probabilities stray further than rounding?

    d = log p of the candidate - log p of the baseline: the same token behind the same tokens (nat)

At equal tokens nothing else can be compared, and damage to the KV cache shows in the scores before
it shows in a token. Every token has one place in the step that committed it:

    first     the first token of a step
    drafted   a further token that was drafted and accepted
    bonus     the last token of a step of several: the target's own, behind the accepted drafts

and its noise is looked up at the same places of the same turns: mean |d| of the baseline's repeat
(decode shape), of its own tokens read again by teacher forcing and, where it was taken, of the
target in verify shape. Both of the latter compute several rows at once, as verification does, so
the largest of the three stands for what rounding may do, and `policy.noise_scale` times that is
allowed. Without one of these two nothing is judged: decoding alone rounds less than verification.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from checks.alpha import level as share_of
from checks.findings import LOGPROBS_SHIFTED, Finding, NotJudged
from checks.greedy.turn import GreedyTurn
from checks.policy import Policy
from checks.tokens.fork import first_divergence
from checks.tokens.regret import Scored
from traces.wire.response import Response
from traces.wire.tokens import Tokens

PLACES = ("all", "first", "drafted", "bonus")
SOURCES = ("candidate", "repeat", "prefill", "verify")

SHIFT_LEVEL = share_of("scores_shifted")
"""Of all four tests of a run together (Bonferroni)."""
PLACE_LEVEL = SHIFT_LEVEL / len(PLACES)
LEAST_SESSIONS = math.ceil(-math.log2(PLACE_LEVEL))
"""Sessions above what is allowed, for a p-value of 2^-L to reach the level of a place."""
LEAST_TOKENS = 1000
"""Of the candidate and of a noise at a place, for a judgement of it."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TurnShift:
    """Sums of one turn: |d|, d and tokens by place and source, shape [places, sources, 3]."""

    session: str
    turn: str
    sums: Array


@dataclass(frozen=True, slots=True)
class PlaceShift:
    """One place over a run. `mean` is that of |d|, `signed` of d, `noise` the largest mean |d| of a
    source of noise and `source` its name, `p` of "no more than noise_scale times that". `needed` is
    how much further every |d| would have to stray to be found (nat); `None`: too few sessions."""

    place: str
    mean: float
    signed: float
    noise: float
    source: str
    tokens: int
    sessions: int
    p: float
    needed: float | None


@dataclass(frozen=True, slots=True)
class ShiftJudgement:
    """Places that were judged, the finding, and why there are none."""

    places: tuple[PlaceShift, ...]
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]


def shift_of(turn: GreedyTurn, committed: Sequence[int] | None) -> TurnShift | None:
    """The sums of a turn; `committed` are the tokens of each of its steps, `None`: not known.

    `None` where its scores do not compare: under processed logits, or without scores.
    """
    own, base = turn.candidate, turn.baseline
    if turn.processing or {own.status, base.status} != {200} or not base.tokens:
        return None
    scores = Tokens.of(base.tokens).logprobs
    shift = _stream(own, base, scores)
    if shift is None:
        return None
    noises = (
        None if turn.repeat is None else _stream(turn.repeat, base, scores),
        _again(turn.scored_baseline, scores),
        None if turn.verify is None else _stream(turn.verify, base, scores),
    )
    places = _places(len(shift), committed)
    sums = np.zeros((len(PLACES), len(SOURCES), 3))
    for source, found in enumerate((shift, *noises)):
        if found is None:
            continue
        for place, mask in enumerate(places):
            length = min(len(found), len(shift))
            seen = found[:length][mask[:length]]
            seen = seen[np.isfinite(seen)]
            sums[place, source] = np.abs(seen).sum(), seen.sum(), len(seen)
    return TurnShift(turn.session, turn.turn, sums)


def _stream(other: Response, base: Response, scores: Array) -> Array | None:
    """d of another capture, up to where it parts from the baseline's; `None` without ids."""
    if other.status != 200 or other.token_ids is None or base.token_ids is None:
        return None
    parted = first_divergence(other.token_ids, base.token_ids)
    length = len(base.token_ids) if parted is None else parted
    return np.asarray(Tokens.of(other.tokens or ()).logprobs[:length] - scores[:length])


def _again(scored: Scored | None, scores: Array) -> Array | None:
    """d of the baseline's own tokens, read again; tokens before its start are not known."""
    if scored is None or scored.shape != "prefill":
        return None
    found = np.full(len(scores), np.nan)
    found[scored.start :] = scored.logprobs - scores[scored.start :]
    return found


def _places(length: int, committed: Sequence[int] | None) -> list[npt.NDArray[np.bool_]]:
    """Which tokens stand at each place."""
    every = np.ones(length, dtype=np.bool_)
    offset = np.full(length, -1)
    last = np.zeros(length, dtype=np.bool_)
    start = 0
    for count in committed or ():
        stop = min(start + count, length)
        offset[start:stop] = np.arange(stop - start)
        if count > 1 and start + count <= length:
            last[start + count - 1] = True
        start += count
    return [every, offset == 0, (offset > 0) & ~last, last]


def judge_shift(turns: Sequence[TurnShift], policy: Policy) -> ShiftJudgement:
    """Every place with enough tokens, by Student's t over sessions; with L sessions above what is
    allowed the p-value is no less than 2^-L.
    """
    by_session: dict[str, Array] = {}
    for turn in turns:
        zero = np.zeros_like(turn.sums)
        by_session[turn.session] = by_session.get(turn.session, zero) + turn.sums
    sums = np.array([by_session[name] for name in sorted(by_session)])
    if not len(sums):
        return ShiftJudgement((), (), (NotJudged(LOGPROBS_SHIFTED, "no greedy turn has scores"),))
    total = sums.sum(axis=0)
    if max(total[0, 2, 2], total[0, 3, 2]) < LEAST_TOKENS:
        why = f"fewer than {LEAST_TOKENS} of the baseline's tokens were read again, or verified"
        return ShiftJudgement((), (), (NotJudged(LOGPROBS_SHIFTED, why),))
    places = tuple(
        _judged(name, sums[:, place], policy.noise_scale)
        for place, name in enumerate(PLACES)
        if total[place, 0, 2] >= LEAST_TOKENS and (total[place, 2:, 2] >= LEAST_TOKENS / 10).any()
    )
    if not places:
        why = f"fewer than {LEAST_TOKENS} tokens are equal on both paths and have scores"
        return ShiftJudgement((), (), (NotJudged(LOGPROBS_SHIFTED, why),))
    worst = [one for one in places if one.p <= PLACE_LEVEL]
    return ShiftJudgement(places, tuple(_finding(worst, policy)), ())


def _judged(name: str, sums: Array, scale: float) -> PlaceShift:
    """One place; `sums` has shape [sessions, sources, 3]."""
    total = sums.sum(axis=0)
    means = np.divide(total[:, 0], total[:, 2], out=np.zeros(len(SOURCES)), where=total[:, 2] > 0)
    source = 1 + int(np.argmax(means[1:]))
    noise, mean = float(means[source]), float(means[0])
    held = sums[:, 0, 2] > 0
    spread = sums[:, 0, 0] - mean * sums[:, 0, 2]
    doubt = sums[:, source, 0] - noise * sums[:, source, 2]
    count = int(held.sum())
    factor = len(sums) / max(len(sums) - 1, 1)
    error = np.sqrt(
        factor * (spread**2).sum() / total[0, 2] ** 2
        + scale**2 * factor * (doubt**2).sum() / total[source, 2] ** 2
    )
    beyond = mean - scale * noise
    p = 1.0
    if count > 1 and beyond > 0:
        p = float(stats.t.sf(beyond / error, count - 1)) if error > 0 else 0.0
    excess = sums[held, 0, 0] / sums[held, 0, 2] - scale * noise
    return PlaceShift(
        place=name,
        mean=mean,
        signed=float(total[0, 1] / total[0, 2]),
        noise=noise,
        source=SOURCES[source],
        tokens=int(total[0, 2]),
        sessions=count,
        p=max(p, 0.5 ** int((excess > 0).sum())),
        needed=_needed(excess, beyond, float(error)),
    )


def _needed(excess: Array, beyond: float, error: float) -> float | None:
    """What must be added to every |d| to be found. `excess` is what the mean of each session lies
    above what is allowed, `beyond` that of all tokens, `error` its standard error (nat)."""
    if len(excess) < LEAST_SESSIONS:
        return None
    least = float(stats.t.isf(PLACE_LEVEL, len(excess) - 1)) * error
    return max(0.0, least - beyond, -float(np.sort(excess)[-LEAST_SESSIONS]))


def _finding(worst: Sequence[PlaceShift], policy: Policy) -> list[Finding]:
    if not worst:
        return []
    said = "; ".join(
        f"{one.place}: mean |d| {one.mean:.2g} nat over {one.tokens:,} tokens, {one.noise:.2g} of "
        f"the baseline itself ({one.source}), mean d {one.signed:+.2g}, p = {one.p:.1g}"
        for one in worst
    )
    message = (
        f"log probabilities of equal tokens lie further from the baseline's than "
        f"{policy.noise_scale:g} times its own noise: {said}"
    )
    detail: Mapping[str, object] = {"places": [one.place for one in worst]}
    return [Finding(LOGPROBS_SHIFTED, message, detail=dict(detail))]
