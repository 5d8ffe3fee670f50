"""Did the candidate answer as the baseline did?"""

from typing import TYPE_CHECKING

from draftgate.testing.both_paths import BothPaths
from draftgate.testing.inconclusive import Inconclusive

if TYPE_CHECKING:
    from checks.pair import Pair


def assert_equivalent(both: BothPaths, *, hard_bound: float | None = None) -> None:
    """The gate's checks of one pair of answers: no error of any family but lost prefix-cache hits.

        def test_turn(both_paths):
            assert_equivalent(both_paths)

    Tokens, text, reasoning, calls, finish and stream must be the baseline's. A greedy token that
    parts from the baseline's is a near tie, and passes, where the baseline scores it at most
    `hard_bound` below its own (nat; default 1.0); what follows a near tie is judged by a whole run
    (`draftgate_run`), which lets the baseline score it.

    Raises AssertionError with both sides; `Inconclusive` where both paths refuse the turn, where
    sampled tokens differ (only a run judges their distribution), and where nothing shows whether
    rounding explains a difference.
    """
    __tracebackhide__ = True
    from checks.exact.judge import judge_pair
    from draftgate.testing.failure import errors_of, failure

    pair = both.pair(hard_bound)
    found = errors_of(judge_pair(pair).findings)
    if found:
        raise failure(both, pair, found)
    reason = _undecided(pair)
    if reason is not None:
        raise Inconclusive(f"{both.name}: {reason}")


def _undecided(pair: "Pair") -> str | None:
    """Why nothing wrong does not mean equal; `None` where it does."""
    from checks.calls.calls import same_call
    from checks.tokens.fork import first_fork

    candidate, baseline = pair.candidate, pair.baseline
    if not candidate.served:
        return f"both paths refuse the turn ({baseline.status} and {candidate.status})"
    if pair.both_have_tokens:
        fork = first_fork(pair)
        if fork is None or fork.kind == "near_tie":
            return None
        return f"token {fork.index} differs, and {_REASONS[fork.kind]}"
    if candidate.message is None or baseline.message is None:
        return "the message of one path is unknown"
    same_text = (candidate.message.content.rstrip(), candidate.message.reasoning.rstrip()) == (
        baseline.message.content.rstrip(),
        baseline.message.reasoning.rstrip(),
    )
    calls = candidate.message.calls, baseline.message.calls
    same_calls = len(calls[0]) == len(calls[1]) and all(map(same_call, *calls))
    if same_text and same_calls:
        return None
    return "the texts differ, and without token ids nothing shows whether rounding explains it"


_REASONS = {
    "sampled": "the request is sampled: only a run judges the distribution of its tokens",
    "unscored": "the baseline's scores do not tell by how much",
    "prefix": "one answer ends where the other goes on",
    "hard": "tokens are missing from the stream",
}
