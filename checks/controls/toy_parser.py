"""A streaming parser with one known fault: what follows its marker in the same delta is lost.

    "<tool_call>" | "{"     fine: one token per delta, as a server without speculation sends
    "<tool_call>{"          the brace is gone: two tokens of one verify step in one delta

The same class of fault as vLLM's deepseek_v3 parser had (start and end marker in one delta).
"""

from collections.abc import Sequence

from checks.splits.cuts import Cut, deltas
from checks.splits.parse_result import ParseResult

OPEN, CLOSE = "<tool_call>", "</tool_call>"


def toy_parse(pieces: Sequence[str], cut: Cut) -> ParseResult:
    """Parse an output that arrives in the deltas of `cut`."""
    content, calls, inside = "", [""], False
    for start, end in deltas(len(pieces), cut):
        delta = "".join(pieces[start:end])
        if not inside and OPEN in delta:
            content += delta.partition(OPEN)[0]
            inside = True
        elif inside and CLOSE in delta:
            calls[-1] += delta.partition(CLOSE)[0]
            calls.append("")
            inside = False
        elif inside:
            calls[-1] += delta
        else:
            content += delta
    return ParseResult(content, calls=tuple(("toy", text) for text in calls[:-1]))
