"""The boundary labeler: raw output text of a model → one label per stretch, as it streams.

    labeler = Labeller(family("hermes"), tools)
    for delta in stream:
        spans = labeler.feed(delta)     # these never change again
    spans = labeler.close()

What has been fed and not yet labeled is at most `LOOK_BACK` characters: the head of an unfinished
line, the beginning of a marker, or a value that may turn out to be a number. Time is linear in the
text: markers are found by one search, and every reader moves only forward.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from traces.boundaries.arguments.content import Call, schemas
from traces.boundaries.arguments.envelope import EnvelopeReader
from traces.boundaries.arguments.gemma import GemmaReader
from traces.boundaries.arguments.json_value import JsonReader
from traces.boundaries.arguments.parameter import ParameterReader
from traces.boundaries.arguments.pythonic import PythonReader
from traces.boundaries.arguments.reader import (
    KeyReader,
    NameReader,
    PlainReader,
    ProseReader,
    Reader,
    SpaceReader,
)
from traces.boundaries.families import family as find_family
from traces.boundaries.label import MARKUP, PROSE, REASONING, SPECIAL
from traces.boundaries.mode import Family, Mode
from traces.boundaries.span import Span

LOOK_BACK = 256
"""Most characters that `feed` has taken and not yet labeled."""

READERS = {
    "text": "prose, fences and diffs",
    "reasoning": "reasoning",
    "markup": "markup of a call",
    "special": "control text: channel names",
    "name": "the tool's name",
    "key": "an argument's name",
    "value": "an argument's value between tags",
    "string": "the same, known to be a string",
    "arguments": "JSON arguments",
    "envelope": "JSON that holds name and arguments",
    "keyed": "JSON in which the name is the key of the arguments",
    "python": "calls in Python syntax",
    "gemma": "arguments in Gemma syntax",
    "space": "white space between parts of a call",
    "gap": "white space before the first text",
}
"""What the text of a mode is read as."""

Stretch = tuple[int, int, str, str | None, str | None]


class Labeller:
    """Labels one output. `family` is a vLLM parser name or a `Family`."""

    def __init__(
        self,
        family: str | Family,
        tools: Iterable[Mapping[str, Any]] = (),
        *,
        thinking: bool = False,
    ) -> None:
        """`thinking`: the prompt ends inside an open reasoning block."""
        self._family = family if isinstance(family, Family) else find_family(family)
        self._schemas = schemas(tools)
        self._buffer = ""
        self._base = 0
        self._out: list[Stretch] = []
        self._call = Call(self._schemas)
        self._key = KeyReader()
        self._at = 0
        self._fresh = True
        self._reader: Reader = PlainReader(PROSE)
        self._enter(self._family.thinking if thinking else self._family.start)

    @property
    def held(self) -> int:
        """Characters fed and not yet labeled."""
        return len(self._buffer)

    def feed(self, text: str) -> list[Span]:
        """Take more text; returns the spans that are now certain, in order."""
        self._buffer += text
        return self._advance(final=False)

    def close(self) -> list[Span]:
        """Label what was held back: no more text comes."""
        return self._advance(final=True)

    def _advance(self, final: bool) -> list[Span]:
        self._out = []
        self._at = 0
        while self._turn(final):
            pass
        self._buffer = self._buffer[self._at :]
        self._base += self._at
        return [Span(*stretch) for stretch in self._out]

    def _turn(self, final: bool) -> bool:
        """Read up to the next marker and follow it; false where no more text can be labeled."""
        mode, text = self._mode, self._buffer
        if self._fresh and mode.trims:
            if self._at == len(text) and not final:
                return False
            self._skip_line_feed(text)
        self._fresh = False
        tag = mode.pattern.search(text, self._at) if mode.pattern else None
        if tag is None or (not final and mode.may_grow(text, tag.start(), tag.end())):
            limit = self._limit(mode, text, final)
            self._read(text, limit, final)
            return self._reader.done and self._at < limit and self._finish(mode)
        trim = mode.trims and text[tag.start() - 1 : tag.start()] == "\n" and tag.start() > self._at
        self._read(text, tag.start() - trim, True)
        if self._reader.done and self._at < tag.start() - trim:
            return self._finish(mode)
        if trim:
            self._emit(self._at, tag.start(), MARKUP, None)
        label, name = mode.tags[tag.group()]
        self._emit(tag.start(), tag.end(), label, None)
        self._at = tag.end()
        self._enter(name)
        return True

    def _limit(self, mode: Mode, text: str, final: bool) -> int:
        """How far text is certain not to be part of a marker."""
        if final:
            return len(text)
        limit = mode.partial(text, self._at)
        if mode.trims and limit > self._at and text[limit - 1] == "\n":
            limit -= 1
        return limit

    def _read(self, text: str, end: int, final: bool) -> None:
        if not self._reader.done:
            self._at = self._reader.consume(text, self._at, end, final, self._emit)

    def _finish(self, mode: Mode) -> bool:
        """The reader is done before the marker: go on to what follows."""
        following = mode.then.get(self._buffer[self._at]) or mode.then.get("")
        if following is None:
            self._reader = PlainReader(MARKUP)
        else:
            self._enter(following)
        return True

    def _skip_line_feed(self, text: str) -> None:
        if text.startswith("\n", self._at):
            self._emit(self._at, self._at + 1, MARKUP, None)
            self._at += 1

    def _enter(self, name: str) -> None:
        self._mode = self._family.modes[name]
        self._fresh = True
        self._reader = self._make_reader(self._mode.reads)

    def _make_reader(self, reads: str) -> Reader:
        """The reader of a mode's text; see `READERS`."""
        match reads:
            case "text":
                self._new_call()
                return ProseReader()
            case "name":
                return NameReader(self._new_call())
            case "key":
                self._key = KeyReader()
                return self._key
            case "value" | "string":
                return ParameterReader(self._call, self._key.key, verbatim=reads == "string")
            case "arguments":
                return JsonReader(self._call)
            case "envelope" | "keyed":
                return EnvelopeReader(self._new_call, keyed=reads == "keyed")
            case "python":
                return PythonReader(self._new_call)
            case "gemma":
                return GemmaReader(self._call)
            case "space" | "gap":
                return SpaceReader(MARKUP if reads == "space" else PROSE)
        return PlainReader({"reasoning": REASONING, "special": SPECIAL, "markup": MARKUP}[reads])

    def _new_call(self) -> Call:
        self._call = Call(self._schemas)
        return self._call

    def _emit(self, start: int, end: int, label: str, language: str | None) -> None:
        tool = None if label == SPECIAL else self._call.tool
        start, end = start + self._base, end + self._base
        if self._out:
            last = self._out[-1]
            if last[2] == label and last[3] == language and last[4] == tool:
                self._out[-1] = (last[0], end, label, language, tool)
                return
        self._out.append((start, end, label, language, tool))
