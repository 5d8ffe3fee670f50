"""The bounds of greedy equivalence, from what was measured."""

from collections.abc import Sequence

from checks.bounds import Bound, State, not_applicable
from checks.greedy.noise import HARD_CEILING, HARD_FACTOR
from checks.greedy.rate import RateJudgement
from checks.greedy.rate_table import NoiseByShape
from checks.greedy.turn import TurnRegrets
from checks.greedy.turn_judgement import TurnJudgement
from checks.policy import Policy
from checks.tokens.regret import SHAPES

HARD, RATE, ARGMAX = "greedy_hard_regret", "greedy_regret_rate", "candidate_argmax"
COVERAGE, NOISE, SESSIONS, TURNS = "scored_share", "noise_floor", "sessions", "turns"


ABSENT = "no turn at temperature 0"

MAX_UNSCORED = 0.01
"""Largest share of candidate tokens that may go without a score: the rest could hide a rate 100
times the margin's."""

LEAST_NOISE = 0.5
"""Baseline tokens that a noise floor needs, as a share of the candidate tokens of its shape."""


def absent_bounds() -> tuple[Bound, ...]:
    """The bounds of traffic that is sampled throughout: none of them applies. Whether there are
    enough sessions and turns is asked of what was judged instead (`enough_bounds`).
    """
    names = (HARD, RATE, ARGMAX, COVERAGE, NOISE)
    return tuple(not_applicable(name, ABSENT) for name in names)


def hard_bound(judged: Sequence[TurnJudgement], noise: NoiseByShape) -> Bound:
    """No single token above the hard bound that the baseline does not show itself."""
    tokens = sum(turn.tokens for turn in judged)
    sessions = len({turn.session for turn in judged if turn.tokens})
    condemned = sum(len(turn.hard) for turn in judged)
    pardoned = sum(len(turn.excused) for turn in judged)
    quiet = [noise[shape] for shape in SHAPES if noise[shape].too_noisy is None]
    loud = "; ".join(
        f"{shape} shape: {noise[shape].too_noisy}" for shape in SHAPES if noise[shape].too_noisy
    )
    beyond = _beyond_noise(judged, noise)
    if not quiet and not beyond:
        return not_applicable(HARD, f"baseline too noisy for single tokens ({loud})")
    bounds = ", ".join(f"{floor.hard:.3g} ({floor.shape})" for floor in quiet)
    message = f"{condemned} tokens above the hard bound of {bounds} nat"
    if pardoned:
        message += f"; {pardoned} more that the baseline shows itself"
    if loud:
        message += f"; not judged in {loud}"
    if beyond:
        message += f"; {beyond} turns with a token far beyond anything the baseline shows"
    state: State = "fail" if condemned else "pass" if tokens and not beyond else "inconclusive"
    return Bound(
        HARD,
        state,
        message,
        value=max((t.max_regret for t in judged if t.max_regret is not None), default=None),
        margin=min((floor.hard for floor in quiet), default=HARD_CEILING),
        noise_floor=_maximum(noise),
        unit="nat",
        n=tokens,
        sessions=sessions,
        needed="a noise floor in verify shape, or a quieter baseline" if beyond else None,
    )


def _beyond_noise(judged: Sequence[TurnJudgement], noise: NoiseByShape) -> int:
    """Turns of a noisy baseline that no noise explains: above 4 nat and four times its maximum.

    They do not condemn, since the tail of the noise is not known, but they cannot pass either.
    """
    limit = max(HARD_CEILING, HARD_FACTOR * (_maximum(noise) or 0.0))
    return sum(bool(t.noisy) and t.max_regret is not None and t.max_regret > limit for t in judged)


def _maximum(noise: NoiseByShape) -> float | None:
    return max((f.maximum for f in noise.values() if f.maximum is not None), default=None)


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
            f"{policy.noise_scale:g} times its scale, {scaled.excess:.2g} and at least "
            f"{scaled.low:.2g}, where 0 is the limit"
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
    return f"about {more:,} more candidate tokens at these rates ({rate.growth:.2g} times this run)"


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
    loud = [f"{shape}: {noise[shape].too_noisy}" for shape in SHAPES if noise[shape].too_noisy]
    tokens = {shape: noise[shape].tokens for shape in SHAPES}
    message = f"baseline against itself: {tokens['decode']} tokens in decode shape, "
    message += f"{tokens['prefill']} in prefill shape"
    if verified := sum(turn.verify_tokens for turn in measured):
        message += f"; {verified} of them the target's own in verify shape"
    if loud:
        message += f"; too noisy for single tokens ({'; '.join(loud)})"
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
