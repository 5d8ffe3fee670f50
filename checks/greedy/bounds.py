"""The bounds of greedy equivalence, from what was measured."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from checks.bounds import Bound, State, not_applicable
from checks.greedy.ladder import Ladder
from checks.greedy.rate import ASSURANCE, RateJudgement
from checks.greedy.rate_table import NoiseByShape
from checks.greedy.small_regrets import SmallRegrets
from checks.greedy.turn import TurnRegrets
from checks.greedy.turn_judgement import TurnJudgement
from checks.policy import Policy
from checks.tokens.regret import SHAPES

LADDER, RATE, ARGMAX = "greedy_regret_ladder", "greedy_regret_rate", "candidate_argmax"
SMALL = "greedy_small_regrets"
COVERAGE, NOISE, SESSIONS, TURNS = "scored_share", "noise_floor", "sessions", "turns"


ABSENT = "no turn at temperature 0"

UNVERIFIED = (
    "more than rounding at that scale explains, but that floor was not measured in verify shape, "
    "where rounding may differ; a warning (`verify_floor` measures one on a GPU)"
)

MAX_UNSCORED = 0.01
"""Largest share of candidate tokens that may go without a score: the rest could hide a rate 100
times the margin's."""

LEAST_NOISE = 0.5
"""Baseline tokens that a noise floor needs, as a share of the candidate tokens of its shape."""


def absent_bounds() -> tuple[Bound, ...]:
    """The bounds of traffic that is sampled throughout: none of them applies. Whether there are
    enough sessions and turns is asked of what was judged instead (`enough_bounds`).
    """
    names = (LADDER, RATE, SMALL, ARGMAX, COVERAGE, NOISE)
    return tuple(not_applicable(name, ABSENT) for name in names)


def ladder_bound(judged: Sequence[TurnJudgement], noise: NoiseByShape, ladder: Ladder) -> Bound:
    """No rung of the ladder breaks, and no token lies far beyond what the baseline shows.

    Such a token fails a run whose target's noise is known to have light tails; else it leaves the
    run open, for no count of one tells a fault from a jump of the noise.
    """
    tokens = sum(turn.tokens for turn in judged)
    far = sum(len(turn.hard) for turn in judged)
    sure = sum(len(turn.hard) for turn in judged if turn.sure)
    state: State = "pass"
    if ladder.broken or sure:
        state = "fail"
    elif far or ladder.blind or not tokens:
        state = "inconclusive"
    return Bound(
        LADDER,
        state,
        "; ".join(_ladder_words(judged, noise, ladder)),
        value=max((t.max_regret for t in judged if t.max_regret is not None), default=None),
        margin=min(floor.far for floor in noise.values()),
        noise_floor=_maximum(noise),
        unit="nat",
        n=tokens,
        sessions=len({turn.session for turn in judged if turn.tokens}),
        needed=_ladder_needs(far, ladder) if state == "inconclusive" else None,
    )


def _ladder_words(
    judged: Sequence[TurnJudgement], noise: NoiseByShape, ladder: Ladder
) -> Iterator[str]:
    """What decided first, then how much each rung could have seen."""
    far = sum(len(turn.hard) for turn in judged)
    pardoned = sum(len(turn.excused) for turn in judged)
    limits = ", ".join(f"{floor.far:.3g} ({floor.shape})" for floor in noise.values())
    yield from ladder.breaks
    yield f"{far} tokens beyond {limits} nat, far from anything the baseline shows"
    if far and (why := _open(noise)):
        yield f"one alone does not fail a run, since {why}"
    if pardoned:
        yield f"{pardoned} more that the baseline shows itself"
    if ladder.blind:
        yield "in decode shape no rung could have failed, so nothing is known of it"
    for shape in SHAPES:
        mine = [rung for rung in ladder.rungs if rung.shape == shape]
        seen = [f"{r.threshold:g}: {r.needed / r.tokens:.2g}" for r in mine if r.needed is not None]
        if seen:
            yield f"rates that would have failed in {shape} shape, above nat: {', '.join(seen)}"
        if off := [f"{rung.threshold:g} ({rung.off})" for rung in mine if rung.off]:
            yield f"off in {shape} shape: {', '.join(off)}"
    lively = [rung for rung in ladder.rungs if rung.adjusted is not None]
    if lively and not ladder.broken:
        first = min(lively, key=lambda rung: rung.adjusted or 0.0)
        yield f"nearest to failing, p = {first.adjusted:.2g} of {ladder.level:g}: {first}"


def _ladder_needs(far: int, ladder: Ladder) -> str:
    if far:
        return (
            "the reason for those tokens (GREEDY_DIVERGENCE lists them); "
            '`noise_tails = "light"` if the target is known to be dense, more tokens if it is not'
        )
    return (
        "a quieter baseline, or more tokens: no rung of decode shape could fail"
        if ladder.blind
        else "candidate tokens that can be judged"
    )


def _open(noise: NoiseByShape) -> str | None:
    return next((floor.open for floor in noise.values() if floor.open is not None), None)


def _maximum(noise: NoiseByShape) -> float | None:
    return max((f.maximum for f in noise.values() if f.maximum is not None), default=None)


def small_bound(found: SmallRegrets | None, level: float) -> Bound:
    """Forks and mean regret no more frequent than rounding explains.

    It fails by a floor in verify shape alone; against another it says what was seen, and no more.
    """
    if found is None:
        return not_applicable(SMALL, "no turn was sent to the baseline twice")
    seen = Bound(
        SMALL,
        "pass",
        str(found),
        value=found.forks / found.tokens if found.tokens else None,
        noise_floor=found.noise_forks / found.noise_tokens if found.noise_tokens else None,
        unit="forks per token",
        n=found.tokens,
        sessions=found.sessions,
    )
    if found.p > level:
        return seen
    if found.verified:
        return replace(seen, state="fail")
    return replace(seen, state="not_applicable", message=f"{found}; {UNVERIFIED}")


def rate_bound(rate: RateJudgement, policy: Policy) -> Bound:
    """Excess rate of soft exceedances, D = rate_C - 2 rate_A, inside the margin."""
    found = rate.estimate
    if found is None:
        return Bound(RATE, "inconclusive", rate.reason, margin=policy.rate_margin)
    message = (
        f"{found.exceedances} of {found.tokens} candidate tokens and {found.noise_exceedances} of "
        f"{found.noise_tokens} baseline tokens above the soft bound; design effect "
        f"{found.deff:.2f} ({rate.deff_source}); share of sessions with one at most "
        f"{found.session_high:.3g}; {rate.split}"
    )
    if rate.reason:
        message += f"; {rate.reason}"
    scaled = rate.scaled
    if scaled is not None:
        message += (
            f"; a pass is decided by rate_C - 2 rate_A, at most {found.high:.2g} of "
            f"{policy.rate_margin:g} per token, a fail by the same with the baseline's noise at "
            f"{policy.noise_scale:g} times its scale: {scaled.excess:.2g} with p = {rate.p:.2g} "
            f"of none in excess, where {rate.level:.2g} fails"
        )
        if found.low > policy.rate_margin and rate.state == "inconclusive":
            message += "; more exceedances than the margin, and no more than such noise explains"
    for name, flip in (("rate_C = rate_A", rate.equal_flip), ("tolerated", rate.sign_flip)):
        if flip is not None and flip.p is not None:
            message += f"; sign-flip p = {flip.p:.2g} ({name}, {flip.sessions} sessions)"
    return Bound(
        RATE,
        rate.state,
        message,
        value=found.excess,
        low=found.low,
        high=found.high,
        margin=policy.rate_margin,
        noise_floor=found.noise_rate,
        unit="per token",
        n=found.tokens,
        sessions=found.sessions,
        needed=_more(rate, found.tokens) if rate.state == "inconclusive" else None,
    )


def _more(rate: RateJudgement, tokens: int) -> str:
    if rate.growth is None:
        return "not decidable at these rates, however many tokens: find the cause of the regrets"
    more = round(tokens * (rate.growth - 1))
    return (
        f"about {more:,} more candidate tokens ({rate.growth:.2g} times this run; at these rates "
        f"that decides {ASSURANCE:.0%} of runs)"
    )


def argmax_bound(count: int, checked: int, tokens: int) -> Bound:
    """Every greedy token is the best of the candidate's own list; `count` are not. `tokens` are
    those that should carry a list of two or more, `checked` those that do.
    """
    bare = tokens - checked
    message = f"{count} of {checked} candidate tokens are not the best of their own list"
    if bare:
        message += f"; {bare} more came without a list of two or more scores"
    enough = checked > 0 and bare <= MAX_UNSCORED * tokens
    return Bound(
        ARGMAX,
        "fail" if count else "pass" if enough else "inconclusive",
        message,
        value=float(count) if checked else None,
        margin=0.0,
        unit="tokens",
        n=checked,
        needed=None if enough else "top_logprobs of 2 or more from the candidate's servers",
    )


def coverage_bound(judged: Sequence[TurnJudgement]) -> Bound:
    """Few enough candidate tokens went without a score."""
    missing = sum(turn.unscored for turn in judged)
    tokens = sum(turn.tokens for turn in judged)
    processed = sum(turn.processed for turn in judged)
    unjudged = sum(turn.not_judged is not None for turn in judged)
    share = missing / (missing + tokens) if missing + tokens else None
    message = (
        f"{missing} candidate tokens lack a score, {processed} cannot have one (processed logits); "
        f"{unjudged} turns not judged"
    )
    enough = share is not None and share <= MAX_UNSCORED
    return Bound(
        COVERAGE,
        "pass" if enough else "inconclusive",
        message,
        value=share,
        margin=MAX_UNSCORED,
        unit="share of tokens unscored",
        n=missing + tokens,
        needed=None if enough else f"scores of {missing:,} candidate tokens",
    )


def noise_bound(measured: Sequence[TurnRegrets], noise: NoiseByShape) -> Bound:
    """The baseline was measured against itself in every shape the candidate was, and as widely."""
    asked = {
        shape: sum(len(p) for m in measured for p in m.candidate if p.shape == shape)
        for shape in SHAPES
    }
    missing = [s for s in SHAPES if noise[s].tokens < LEAST_NOISE * asked[s]]
    tokens = {shape: noise[shape].tokens for shape in SHAPES}
    message = f"baseline against itself: {tokens['decode']} tokens in decode shape, "
    message += f"{tokens['prefill']} in prefill shape"
    if verified := sum(turn.verify_tokens for turn in measured):
        message += f"; {verified} of them the target's own in verify shape"
    return Bound(
        NOISE,
        "inconclusive" if missing else "pass",
        message,
        value=_maximum(noise),
        unit="nat",
        n=sum(tokens.values()),
        needed=f"baseline tokens in {' and '.join(missing)} shape" if missing else None,
    )


def enough_bounds(turns: Sequence[tuple[str, str]], policy: Policy) -> tuple[Bound, Bound]:
    """Enough sessions for intervals that resample sessions, and enough turns, by (session, turn)
    of what was judged.
    """
    sessions = len({session for session, _ in turns})
    return (
        _at_least(SESSIONS, sessions, policy.min_sessions, "sessions"),
        _at_least(TURNS, len(turns), policy.min_turns, "turns"),
    )


def _at_least(name: str, found: int, least: int, unit: str) -> Bound:
    return Bound(
        name,
        "pass" if found >= least else "inconclusive",
        f"{found} {unit} judged, {least} wanted",
        value=float(found),
        margin=float(least),
        unit=unit,
        n=found,
        needed=None if found >= least else f"{least - found} more {unit}",
    )
