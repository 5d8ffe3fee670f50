"""Did the client get what the candidate's own tokens parse to?

After a near tie the baseline's text is no reference any more. The candidate's tokens still are: fed
to the server's own parser, cut as they were sent, they give the message that should have arrived.

    tokens   <think>short</think>Done.      parse to   reasoning "short", content "Done."
    arrived  reasoning "short"                         CONTENT_DIFF
"""

from collections.abc import Iterator

from checks import findings as f
from checks.calls.calls import same_arguments
from checks.excerpt import around_difference
from checks.findings import Finding
from checks.splits.parse_result import ParseResult

SAYS = "the candidate's own tokens parse to"


def check_delivered(parsed: ParseResult, arrived: ParseResult) -> Iterator[Finding]:
    """What `arrived` lacks of, or has beyond, `parsed`; white space aside."""
    if parsed.error is not None or parsed.same_but_for_space(arrived):
        return
    for code, name, own, got in (
        (f.CONTENT_DIFF, "content", parsed.content, arrived.content),
        (f.REASONING_DIFF, "reasoning", parsed.reasoning, arrived.reasoning),
    ):
        if "".join(own.split()) != "".join(got.split()):
            baseline, candidate = around_difference(own, got)
            yield _finding(
                code, f"{name}: {candidate} arrived where {SAYS} {baseline}", baseline, candidate
            )
    if len(arrived.calls) != len(parsed.calls):
        lost = len(arrived.calls) < len(parsed.calls)
        yield _finding(
            f.TOOL_CALL_LOST if lost else f.TOOL_CALL_EXTRA,
            f"{len(arrived.calls)} calls arrived where {SAYS} {len(parsed.calls)}",
            ", ".join(name for name, _ in parsed.calls) or "no call",
            ", ".join(name for name, _ in arrived.calls) or "no call",
        )
        return
    for place, (call, sent) in enumerate(zip(parsed.calls, arrived.calls, strict=True)):
        if call[0] != sent[0] or not same_arguments(call[1], sent[1]):
            baseline, candidate = around_difference("".join(call), "".join(sent))
            yield _finding(
                f.ARGS_DIFFER,
                f"call {place}: {candidate} arrived where {SAYS} {baseline}",
                baseline,
                candidate,
            )


def _finding(code: str, message: str, own: str, got: str) -> Finding:
    return Finding(code, message, baseline=own, candidate=got, detail={"reference": "own tokens"})
