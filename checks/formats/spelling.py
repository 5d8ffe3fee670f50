"""Is the text a client gets what the path's own tokens spell?

A parser cuts the model's text at its markup, and hands on some of the pieces in their order:

    own        <think>|Look.|</think>|It is |<tool_call>|{"name": …}|</tool_call>
    reasoning          Look.
    content                           It is

Content made of other text, or with a word less inside a piece, is a fault of the path. Which pieces
belong to which channel is the parser's to say. White space does not count: parsers trim it. Where a
character is spread over several tokens, whose texts then show parts of it, ASCII alone counts.
"""

import re
from functools import cache

from checks.formats.markers import CONTROL, EOS, markers
from checks.pair import PART, Message

PROSE_MARKS = re.compile(r"Here(?:'s| is) my (?:thought process|thoughts|response):", re.IGNORECASE)
"""Plain words by which Granite's models part reasoning and answer."""


def unspelled(
    own: str, message: Message, *, stopped: bool = False, eos: tuple[str, ...] = ()
) -> str | None:
    """The channel (``content`` or ``reasoning``) that `own` does not spell; `None` if both are.

    A text that may have been `stopped` by the request's stops may end early. An answer without any
    markup and without calls must be all of it. `eos` are further EOS strings.
    """
    close = _ascii if PART in own else _close
    pieces = [close(piece) for piece in _cut(_ended(own, eos))]
    content, reasoning = close(message.content), close(message.reasoning)
    if len(pieces) == 1 and message.calls:
        return None if content in pieces[0] else "content"
    if not _made_of(pieces, reasoning, stopped=stopped):
        return "reasoning"
    if not _made_of(pieces, content, stopped=stopped):
        return "content"
    if len(pieces) == 1 and not stopped and not reasoning and content != pieces[0]:
        return "content"
    return None


def readable(own: str) -> bool:
    """Whether markup can be found in `own`: not where a marker's own characters may be spread over
    tokens, as those of DeepSeek's markers that are no special tokens."""
    if PART not in own:
        return True
    skeleton = _ascii(own)
    return not any(_ascii(marker) in skeleton for marker in markers() if not marker.isascii())


def _close(text: str) -> str:
    return "".join(text.split())


def _ascii(text: str) -> str:
    return "".join(c for c in text if c.isascii() and not c.isspace())


def _ended(own: str, eos: tuple[str, ...]) -> str:
    """Without the tokens that end it."""
    own, before = own.rstrip(), ""
    while own != before:
        before = own
        for end in (*EOS, *eos):
            own = own.removesuffix(end).rstrip()
    return own


def _cut(own: str) -> list[str]:
    """The text's pieces, markup among them; at least one."""
    return [piece for piece in _markup().split(own) if piece.strip()] or [""]


@cache
def _markup() -> re.Pattern[str]:
    known = sorted({*markers(), *EOS, *CONTROL}, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, known))}|{PROSE_MARKS.pattern})", re.IGNORECASE)


def _made_of(pieces: list[str], text: str, *, stopped: bool) -> bool:
    """Whether the text is some of the pieces in their order; where it is `stopped` the last of them
    may be cut.
    """
    reached = {0}
    for piece in pieces:
        further = {at + len(piece) for at in reached if text.startswith(piece, at)}
        rest = (text[at:] for at in reached)
        if stopped and any(piece.startswith(end) for end in rest):
            return True
        reached |= further
    return len(text) in reached
