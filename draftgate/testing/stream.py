"""Does the stream obey the protocol, and add up?"""

from draftgate.testing.answer import Answer
from draftgate.testing.both_paths import BothPaths


def assert_stream_intact(evidence: Answer | BothPaths) -> None:
    """A 200 stream with a finish reason, usage and ``[DONE]``, no error and no token lost in it.

        def test_stream(both_paths):
            assert_stream_intact(both_paths.candidate)

    Given both paths, a flaw that the baseline's stream shows too is not charged to the candidate,
    and stalls of the transport are judged where the baseline's gaps are known.

    Raises AssertionError with every code that fired (docs/findings.md, Transport).
    """
    __tracebackhide__ = True
    from checks.exact.judge import judge_pair
    from checks.findings import TRANSPORT
    from draftgate.testing.failure import errors_of, failure
    from draftgate.testing.masking import Mask

    answer = evidence if isinstance(evidence, Answer) else evidence.candidate
    pair = evidence.alone() if isinstance(evidence, Answer) else evidence.pair()
    found = errors_of(judge_pair(pair).findings, frozenset({TRANSPORT}))
    if found:
        raise failure(evidence, pair, found)
    if answer.status != 200 and isinstance(evidence, Answer):
        mask = Mask(answer.texts())
        reason = answer.error or str(answer.response.error or "no body")
        raise AssertionError(f"{answer!r}: no stream: {mask(reason)}")
