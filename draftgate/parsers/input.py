"""One output for `draftgate parsers`: a text, or what a server sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checks.vllm.detokenizer import TokenText
from checks.vllm.parsers import ParserUnderTest


@dataclass(frozen=True, slots=True)
class ParserInput:
    """`name` says where it is from. It is `text`, or token `ids` as a server sent them after
    `prompt`; `stopped` tells whether the last id ended them, `None` where that is not known.
    `request` is the one it answers, where that is known. `must_parse`: it is only cut where it
    parses un-cut, as a model's own outputs need not."""

    name: str
    text: str | None = None
    ids: tuple[int, ...] = ()
    prompt: tuple[int, ...] = ()
    stopped: bool | None = None
    request: Mapping[str, Any] | None = None
    must_parse: bool = False

    def tokens(self, parser: ParserUnderTest) -> TokenText:
        """As `parser` meets it."""
        if self.text is not None:
            return parser.tokenize(self.text)
        return parser.detokenize(self.ids, self.prompt, stopped=self.stopped)
