"""Lines of a text as it stands in the output: plain, or escaped inside a JSON string.

Both kinds give the same view to what reads them: where a line stops, whether its end has been seen,
and its first characters unescaped. Offsets always are those of the raw text.
"""

import re

HEAD = 200
"""A line is classified by its first 200 raw characters; that bounds how long a label may wait."""

_ESCAPED_LINE = re.compile(r"(?:[^\\\n]++|\\[^n])*+(\\n|\n)?", re.S)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_PLAIN = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class PlainLines:
    """Lines end with a line feed."""

    def stop(self, text: str, start: int, end: int) -> tuple[int, bool]:
        """Where the line that starts at `start` stops, and whether it ended there."""
        found = text.find("\n", start, end)
        return (end, False) if found < 0 else (found + 1, True)

    def head(self, text: str, start: int, stop: int) -> str:
        """The first characters of a line, without its line end."""
        return text[start : min(stop, start + HEAD)].rstrip("\r\n")


class EscapedLines:
    """Lines of a JSON string: they end with the escape ``\\n`` (or, against JSON, a line feed)."""

    def stop(self, text: str, start: int, end: int) -> tuple[int, bool]:
        """As for plain lines; stops before a backslash whose escape is not complete."""
        match = _ESCAPED_LINE.match(text, start, end)
        return (start, False) if match is None else (match.end(), match.group(1) is not None)

    def head(self, text: str, start: int, stop: int) -> str:
        """The first characters of a line, unescaped, without its line end."""
        return unescape(text[start : min(stop, start + HEAD)]).rstrip("\r\n")


Lines = PlainLines | EscapedLines


def unescape(text: str) -> str:
    """The text a JSON string body stands for; what is not a whole escape stays as it is."""
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _PLAIN[letter]
