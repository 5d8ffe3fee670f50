"""Both sides of a failing turn, laid side by side as far as a person needs to see them.

--- baseline: call 0 (read_file)
+++ candidate: call 0 (read_file)
 {
- "path": "src/a.py"
+ "path": "src/a"
 }

tokens from 38 on, ▸ marks where they part
  baseline   'src' '/' ▸'a.py' '"'
  candidate  'src' '/' ▸'a' '"'
"""

import difflib
import json
from collections.abc import Iterator, Sequence

from checks.findings import CODES, CONTENT, TOKENS, TOOL_CALLS, Finding
from checks.pair import Pair, Side
from checks.tokens.fork import first_fork
from draftgate.testing.masking import Mask
from reports.rows.redacted import redacted_texts
from traces.wire.response import Token, ToolCall

MOST_LINES = 40
"""Lines of one difference that are shown."""
CONTEXT = 2
"""Equal lines around a change."""
BEFORE, AFTER = 6, 6
"""Tokens around a fork."""


def differences(pair: Pair, findings: Sequence[Finding], mask: Mask) -> Iterator[str]:
    """Lines to print below the findings: the texts, the calls and the tokens that differ."""
    candidate, baseline = pair.candidate.message, pair.baseline.message
    families = {CODES[finding.code].family for finding in findings}
    if candidate is not None and baseline is not None:
        if CONTENT in families:
            yield from text_difference(baseline.content, candidate.content, "content", mask)
            yield from text_difference(baseline.reasoning, candidate.reasoning, "reasoning", mask)
        if TOOL_CALLS in families:
            indented = all(map(_is_json, (*baseline.calls, *candidate.calls)))
            before, after = (_listed_calls(side.calls, indented) for side in (baseline, candidate))
            yield from text_difference(before, after, "calls", mask)
    if TOKENS in families:
        yield from token_window(pair, mask)


def text_difference(before: str, after: str, what: str, mask: Mask) -> Iterator[str]:
    """A unified difference of two texts; nothing where they are equal."""
    if before == after:
        return
    old, new = (mask(text).split("\n") for text in (before, after))
    names = f"baseline: {what}", f"candidate: {what}"
    lines = list(difflib.unified_diff(old, new, *names, lineterm="", n=CONTEXT))
    if not lines:
        yield f"the {what} differ in white space or in a masked secret alone"
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"… {len(lines) - MOST_LINES} more lines"


def _is_json(call: ToolCall) -> bool:
    try:
        json.loads(call.arguments)
    except (ValueError, RecursionError):
        return False
    return True


def _listed_calls(calls: Sequence[ToolCall], indented: bool) -> str:
    """Calls as text; arguments as they came where those of any call are no JSON."""

    def arguments(call: ToolCall) -> str:
        if not indented:
            return call.arguments
        return json.dumps(json.loads(call.arguments), indent=1, ensure_ascii=False)

    return "\n".join(f"call {call.index}: {call.name}\n{arguments(call)}" for call in calls)


def token_window(pair: Pair, mask: Mask) -> Iterator[str]:
    """The tokens of both paths around the first fork, and how the baseline scores the two."""
    fork = first_fork(pair)
    if fork is None:
        return
    start = max(0, fork.index - BEFORE)
    yield f"tokens from {start} on, ▸ marks where they part"
    for name, side in (("baseline", pair.baseline), ("candidate", pair.candidate)):
        yield f"  {name:9}  {_window(side, start, fork.index, mask)}"
    listed = _listed(pair.baseline, fork.index)
    if listed:
        yield f"  the baseline's own log probabilities there: {mask(listed)}"


def _window(side: Side, start: int, fork: int, mask: Mask) -> str:
    tokens = side.tokens or ()
    texts = redacted_texts([_text(token) for token in tokens], mask.keys)
    shown = [
        ("▸" if index == fork else "") + repr(mask(texts[index]))
        for index in range(start, min(len(texts), fork + AFTER))
    ]
    if fork >= len(texts):
        shown.append("▸ (no more)")
    return " ".join(shown)


def _text(token: Token) -> str:
    return token.text if token.text is not None else f"<{token.id}>"


def _listed(side: Side, index: int) -> str:
    tokens = side.tokens or ()
    top = tokens[index].top if index < len(tokens) else ()
    return ", ".join(f"{t.text or t.id!r} {t.logprob:.2f}" for t in top)
