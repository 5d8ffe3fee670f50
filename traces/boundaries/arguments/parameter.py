"""The value of an argument that stands between tags, as it is, without quotes.

    <parameter=command>
    ls -la
    </parameter>

The schema says whether a value that looks like a number or JSON is one; without a schema it is.
"""

import re

from traces.boundaries.arguments.content import Call, string_block
from traces.boundaries.arguments.json_value import JsonReader
from traces.boundaries.arguments.reader import PlainReader, Reader
from traces.boundaries.blocks.document import Document, Emit
from traces.boundaries.label import NUMBER, STRING

_LITERAL = re.compile(
    r"\s*(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|true|false|null|True|False|None)\s*"
)
_JSON_TYPES = (None, "object", "array")
LONGEST_LITERAL = 64
"""A longer value is not held back to see whether it is a number."""


class ParameterReader:
    """One value. `key` names its argument; a `verbatim` one is a string, whatever it looks like."""

    def __init__(self, call: Call, key: str, *, verbatim: bool = False) -> None:
        self.done = False
        self._call = call
        self._key = key.strip()
        self._type = call.type_of(self._key)
        self._note: str | None = ""
        block = call.block(self._key)
        self._reader: Reader | None = None
        if block or verbatim or self._type == "string":
            self._reader = DocumentReader(Document(block or string_block()))

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Hold the first characters until the kind of value is known, then label it."""
        if self._reader is None:
            if not final and end - at < LONGEST_LITERAL:
                return at
            self._reader = self._choose(text[at:end], final)
        reached = self._reader.consume(text, at, end, final, emit)
        if self._reader.done and reached < end:
            emit(reached, end, STRING, None)
            reached = end
        if self._note is not None:
            self._note += text[at:reached]
            if final or len(self._note) > 512:
                self._call.note(self._key, self._note.strip())
                self._note = None
        return reached

    def _choose(self, head: str, whole: bool) -> Reader:
        if whole and len(head) <= LONGEST_LITERAL and _LITERAL.fullmatch(head):
            return PlainReader(NUMBER)
        if self._type in _JSON_TYPES and head.lstrip()[:1] in ("{", "["):
            return JsonReader(self._call)
        return DocumentReader(Document(string_block()))


class DocumentReader:
    """A document as a reader."""

    def __init__(self, document: Document) -> None:
        self.done = False
        self._document = document

    def consume(self, text: str, at: int, end: int, final: bool, emit: Emit) -> int:
        """Line by line."""
        return self._document.consume(text, at, end, final, emit)
