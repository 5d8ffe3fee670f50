"""A text cut into pieces about as a tokenizer would, for parsers tested without one.

    '<tool_call>{"path": "src/main.py"}'
    ->  '<tool_call>' '{' '"' 'path' '"' ':' ' "' 'src' '/' 'main' '.' 'py' '"' '}'

Markers are one piece, as they are one token of the models that write them; a piece is never longer
than `LONGEST` characters otherwise. Any cut of real tokens is a cut of finer pieces too, but for
tokens that join what is apart here.
"""

import re

LONGEST = 8

_PIECE = re.compile(
    r"<\|[^|<>]{1,40}\|>|<｜[^｜<>]{1,40}｜>|</?[A-Za-z_][\w:.-]{0,40}>|\[/?[A-Z_]{2,40}\]"
    rf"| ?\w{{1,{LONGEST}}}|\n+| ?[^\w\s]|\s"
)


def pieces_of(text: str) -> tuple[str, ...]:
    """The pieces; joined they are `text`."""
    return tuple(_PIECE.findall(text))
