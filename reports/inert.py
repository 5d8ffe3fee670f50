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

FORMULA = ("=", "+", "-", "@")
"""How a cell begins that a spreadsheet computes."""


_COMMAND = re.compile(
    r"::(?=(?:error|warning|notice|debug|group|endgroup|add-mask|add-matcher|remove-matcher|echo"
    r"|stop-commands|set-output|set-env|save-state|add-path)\b)|##(?=\[)"
)
"""What begins a command to a runner of GitHub Actions in the output of a step. Docs:
https://docs.github.com/actions/reference/workflow-commands-for-github-actions"""


def visible(text: str) -> str:
    """`text` with control, direction and invisible characters, and the beginning of a workflow
    command, written out; tab, newline stay."""
    return _COMMAND.sub(_first_written_out, _ACTING.sub(_written_out, text))


def visible_json(text: str) -> str:
    """JSON text with the same characters written as JSON writes them: ``\\u202e``. Its values stay
    what they are; outside of strings JSON has none of these characters."""
    return _ACTING.sub(_as_json, text)


def for_spreadsheets(text: str) -> str:
    """The same as `visible`, on one line, and with an apostrophe where a spreadsheet would take the
    text for a formula (https://owasp.org/www-community/attacks/CSV_Injection)."""
    shown = visible(text).replace("\n", "\\n")
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown


def one_line(text: str, length: int = 160) -> str:
    """The same on one line, cut to `length` characters with an ellipsis."""
    flat = visible(text).replace("\n", "⏎").replace("\t", "⇥")
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def _first_written_out(match: re.Match[str]) -> str:
    return f"\\x{ord(match[0][0]):02x}{match[0][1:]}"


def _as_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
