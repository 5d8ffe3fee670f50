"""One output as its server's parser met it, and what the server made of it."""

from checks.splits.cuts import Cut
from checks.splits.parse_result import ParseResult
from traces.wire.response import Response


def served_cut(response: Response) -> Cut:
    """The token offsets at which the deltas of the stream ended."""
    place, ends = 0, set()
    for chunk in response.chunks:
        place += chunk.token_ids or 0
        ends.add(place)
    return tuple(sorted(end for end in ends if 0 < end < place))


def served_result(response: Response) -> ParseResult:
    """What the client got."""
    calls = tuple((call.name or "", call.arguments) for call in response.tool_calls)
    return ParseResult(response.content, response.reasoning, calls)


def ended_by_token(response: Response) -> bool:
    """Whether EOS or a stop token id ended it: that id is sent, and its text is not."""
    ended = response.finish_reason in ("stop", "tool_calls")
    return ended and not isinstance(response.stop_reason, str)
