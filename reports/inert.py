"""Recorded text that may be hostile, made harmless for the eye and the terminal.

Escaping for HTML, XML or JSON is each writer's own; this is about characters that act even when
escaped: terminal controls, text direction overrides, invisible characters.

    'rm \\x1b[2J\\u202egnp.exe'  ->  'rm \\\\x1b[2J\\\\u202egnp.exe'
"""

import re

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` with control, direction and invisible characters written out; tab, newline stay."""
    return _ACTING.sub(_written_out, text)


def one_line(text: str, length: int = 160) -> str:
    """The same on one line, cut to `length` characters with an ellipsis."""
    flat = visible(text).replace("\n", "⏎").replace("\t", "⇥")
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
