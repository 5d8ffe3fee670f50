"""What is said of a parser whose result depends on the cut."""

import difflib
import json

from checks.splits.cuts import deltas
from checks.splits.judge import SplitJudgement, joined_words
from checks.splits.parse_result import ParseResult
from draftgate.testing.masking import Mask, texts_in


def split_failure(judged: SplitJudgement) -> AssertionError:
    """The smallest cut that changes the result, the deltas it makes, and both results."""
    failure = judged.failure
    assert failure is not None
    pieces, reference = judged.pieces, judged.reference
    mask = Mask(["".join(pieces)], texts_in(reference.as_json()))
    joined = ["".join(pieces[a:b]) for a, b in deltas(len(pieces), failure.cut) if b - a > 1]
    failed, tried = sum(judged.failed.values()), sum(judged.tried.values())
    lines = [
        _headline(judged, mask),
        f"{failed} of {tried} cuts change the result; smallest, as token offsets: {failure.cut}",
        "in one delta: " + ", ".join(repr(mask(text)) for text in joined[:5]),
        *difflib.unified_diff(
            _lines(reference, mask),
            _lines(failure.result, mask),
            "one token per delta",
            "so cut",
            lineterm="",
        ),
    ]
    return AssertionError("\n".join(lines))


def split_warning(judged: SplitJudgement) -> str:
    """``other white space when '<tool_call>' arrives in one delta``: a difference to know of."""
    return _headline(judged, Mask(["".join(judged.pieces)]))


def _headline(judged: SplitJudgement, mask: Mask) -> str:
    assert judged.failure is not None
    how = judged.failure.result.difference(judged.reference)
    return f"{how} when {mask(joined_words(judged.pieces, judged.failure.cut))}"


def _lines(result: ParseResult, mask: Mask) -> list[str]:
    return mask(json.dumps(result.as_json(), indent=1, ensure_ascii=False)).split("\n")
