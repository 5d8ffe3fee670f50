"""GREEDY_DIVERGENCE and NEAR_TIE_FORK: the first fork, judged by the baseline's own scores."""

from collections.abc import Iterator

from checks import findings as f
from checks.exact.step_edges import is_dropped
from checks.findings import Finding, NotJudged
from checks.pair import Pair
from checks.tokens.first_fork import Fork, first_fork
from traces.wire.response import Token


def check_divergence(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Regret above the bound is GREEDY_DIVERGENCE; within it the fork is listed, not failed."""
    if not pair.both_have_tokens:
        yield NotJudged(f.GREEDY_DIVERGENCE, "token ids of both paths are needed")
        return
    if not pair.greedy:
        yield NotJudged(f.GREEDY_DIVERGENCE, "the request is not known to be greedy")
        return
    fork = first_fork(pair)
    if fork is None or fork.kind == "prefix":
        return
    if is_dropped(pair) is not None:
        yield NotJudged(f.GREEDY_DIVERGENCE, "tokens are missing from the stream")
    elif fork.kind == "unscored":
        yield NotJudged(f.GREEDY_DIVERGENCE, "the baseline's scores do not bound the regret")
    else:
        yield _finding(pair, fork)


def _finding(pair: Pair, fork: Fork) -> Finding:
    ours = (pair.candidate.tokens or ())[fork.index]
    theirs = (pair.baseline.tokens or ())[fork.index]
    hard = fork.kind == "hard"
    amount = f"{'at least ' if fork.at_least else ''}{fork.regret:.3g} nat"
    return Finding(
        f.GREEDY_DIVERGENCE if hard else f.NEAR_TIE_FORK,
        f"token {fork.index}: {_name(ours)} where the baseline has {_name(theirs)}; the baseline "
        f"scores it {amount} below its own ({'above' if hard else 'within'} {pair.hard_bound:g})",
        token=fork.index,
        baseline=_name(theirs),
        candidate=_name(ours),
        detail={"regret": fork.regret, "at_least": fork.at_least, "bound": pair.hard_bound},
    )


def _name(token: Token) -> str:
    return repr(token.text) if token.text is not None else f"id {token.id}"
