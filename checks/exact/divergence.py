"""Where the tokens part: GREEDY_DIVERGENCE and NEAR_TIE_FORK at the first fork, judged by the
baseline's own scores; tokens lost or sent twice at the edges of engine steps.

baseline  A B C D E F     candidate  A B C     F      DROPPED_TOKEN (usage still counts six)
baseline  A B C D         candidate  A B | A B C D    DUPLICATED_TOKEN (steps end at |)
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from checks import findings as f
from checks.findings import Finding, NotJudged
from checks.pair import Pair, Side
from checks.tokens.fork import Fork, first_fork
from traces.wire.response import Token

LONGEST_RUN = 128
"""Longest run looked for; an engine step commits far fewer tokens."""


def is_dropped(pair: Pair) -> int | None:
    """Where one run of the baseline's tokens is left out although usage counts it, else `None`."""
    candidate, baseline, counted = (
        pair.candidate.ids,
        pair.baseline.ids,
        pair.candidate.completion_tokens,
    )
    if candidate is None or baseline is None or counted is None or len(candidate) >= counted:
        return None
    if len(candidate) >= len(baseline):
        return None
    start = _common(candidate, baseline)
    end = _common(candidate[::-1], baseline[::-1])
    return start if start + end >= len(candidate) else None


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    shorter = min(len(left), len(right))
    return next((i for i in range(shorter) if left[i] != right[i]), shorter)


def check_dropped(pair: Pair) -> Iterator[Finding | NotJudged]:
    """DROPPED_TOKEN; GREEDY_DIVERGENCE is then not judged."""
    if not pair.both_have_tokens or pair.candidate.completion_tokens is None:
        yield NotJudged(f.DROPPED_TOKEN, "token ids of both paths and usage are needed")
        return
    place = is_dropped(pair)
    if place is not None:
        lost = len(pair.baseline.ids or ()) - len(pair.candidate.ids or ())
        yield Finding(
            f.DROPPED_TOKEN,
            f"{lost} of the baseline's tokens are missing at token {place}, and usage counts them",
            token=place,
        )


def check_duplicated(pair: Pair) -> Iterator[Finding | NotJudged]:
    """DUPLICATED_TOKEN: the run that ends at a step edge is sent again right after it.

    A fork that is a near tie by the baseline's own scores is explained by rounding.
    """
    candidate, baseline = pair.candidate.ids, pair.baseline.ids
    edges = _edges(pair.candidate)
    if candidate is None or baseline is None or not edges:
        yield NotJudged(f.DUPLICATED_TOKEN, "token ids of both paths and step edges are needed")
        return
    same = _common(candidate, baseline)
    fork = first_fork(pair)
    if fork is None or fork.kind in ("near_tie", "sampled"):
        return
    for edge in sorted(e for e in edges if 0 < e <= same and e < len(candidate)):
        length = _sent_again(candidate, baseline, edge)
        if length:
            yield Finding(
                f.DUPLICATED_TOKEN,
                f"{length} tokens are sent again right after the step that ends at token {edge}",
                token=edge,
                detail={"length": length},
            )
            return


def _sent_again(candidate: Sequence[int], baseline: Sequence[int], edge: int) -> int:
    """Length of the longest run before `edge` that follows it again, though not in the baseline."""
    for length in range(min(edge, len(candidate) - edge, LONGEST_RUN), 0, -1):
        again = candidate[edge : edge + length]
        if again == candidate[edge - length : edge] and again != baseline[edge : edge + length]:
            return length
    return 0


def _edges(side: Side) -> set[int]:
    """Token counts at which an engine step ended; a chunk holds whole steps."""
    if side.step_tokens is not None:
        return set(accumulate(side.step_tokens))
    chunks = side.stream.chunks if side.stream else ()
    return set(accumulate(chunk.token_ids for chunk in chunks if chunk.token_ids))


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
    candidate = (pair.candidate.tokens or ())[fork.index]
    baseline = (pair.baseline.tokens or ())[fork.index]
    hard = fork.kind == "hard"
    amount = f"{'at least ' if fork.at_least else ''}{fork.regret:.3g} nat"
    return Finding(
        f.GREEDY_DIVERGENCE if hard else f.NEAR_TIE_FORK,
        f"token {fork.index}: {_name(candidate)} where the baseline has {_name(baseline)}; the "
        f"baseline scores it {amount} below its own "
        f"({'above' if hard else 'within'} {pair.hard_bound:g})",
        token=fork.index,
        baseline=_name(baseline),
        candidate=_name(candidate),
        detail={"regret": fork.regret, "at_least": fork.at_least, "bound": pair.hard_bound},
    )


def _name(token: Token) -> str:
    return repr(token.text) if token.text is not None else f"id {token.id}"
