"""Findings of greedy equivalence: what a reader is shown, one per turn and code."""

from collections.abc import Iterator, Sequence

from checks import findings as codes
from checks.findings import Finding
from checks.greedy.turn import GreedyTurn
from checks.greedy.turn_judgement import TurnJudgement
from checks.tokens.fork import Fork
from traces.wire.response import Token


def findings_of(turn: GreedyTurn, result: TurnJudgement, wrong: Sequence[int]) -> Iterator[Finding]:
    """The divergence, near tie or excused fork of a turn; `wrong` are tokens that are not the best
    of the candidate's own list."""
    if result.hard:
        yield _divergence(turn, result, "" if result.sure else codes.WARNING)
    elif result.fork is not None:
        yield _fork(result, result.fork)
    if turn.processing and wrong:
        yield Finding(
            codes.SAMPLER_NOT_ARGMAX,
            f"{len(wrong)} tokens are not the best of the candidate's own list",
            session=result.session,
            turn=result.turn,
            token=wrong[0],
            detail={"tokens": list(wrong)},
        )


def _divergence(turn: GreedyTurn, result: TurnJudgement, severity: str) -> Finding:
    """A token that rounding does not explain; a warning where its tails are not known."""
    tokens = result.hard
    first = tokens[0]
    more = f"; {len(tokens) - 1} further tokens" if len(tokens) > 1 else ""
    candidate, baseline = turn.candidate.tokens or (), turn.baseline.tokens or ()
    forked_here = result.fork is not None and result.fork.index == first
    return Finding(
        codes.GREEDY_DIVERGENCE,
        f"regret of token {first} is far beyond the baseline's noise, largest of the turn "
        f"{result.max_regret or 0.0:.3g} nat{more}",
        severity=severity,
        session=result.session,
        turn=result.turn,
        token=first,
        baseline=_text(baseline[first]) if forked_here else None,
        candidate=_text(candidate[first]),
        detail={"tokens": list(tokens), "max_regret": result.max_regret},
    )


def _fork(result: TurnJudgement, fork: Fork) -> Finding:
    seen = "not scored" if fork.regret is None else f"{fork.regret:.3g} nat"
    note = ", the baseline shows as much itself" if fork.kind == "excused" else ""
    return Finding(
        codes.NEAR_TIE_FORK,
        f"first fork at token {fork.index}, regret {seen}{note}",
        session=result.session,
        turn=result.turn,
        token=fork.index,
        baseline=_text(fork.baseline),
        candidate=_text(fork.candidate),
        detail={
            "kind": fork.kind,
            "regret": fork.regret,
            "prefill_regret": fork.prefill_regret,
            "margin": fork.margin,
            "ulp": fork.ulp,
            "baseline_top": [list(entry) for entry in fork.top[0]],
            "candidate_top": [list(entry) for entry in fork.top[1]],
        },
    )


def _text(token: Token | None) -> str | None:
    if token is None:
        return None
    return token.text if token.text is not None else f"token {token.id}"
