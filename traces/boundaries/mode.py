"""How a parser family marks up its output: a graph of modes, joined by fixed marker strings.

In a mode the text up to the next marker goes to the mode's reader; the marker has a label and leads
to another mode. Markers win over whatever the reader is in the middle of, as in vLLM's own parsers.

    hermes:  text --<tool_call>--> envelope --</tool_call>--> text
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

Tags = Mapping[str, tuple[str, str]]
"""Marker → (its label, the mode it leads to)."""


@dataclass(frozen=True)
class Mode:
    """One mode.

    `reads` names the reader of the text (`traces.boundaries.labeller.READERS`). `then` is the mode
    that follows once the reader is done, by the next character, with ``""`` for any other; without
    one the rest is `tool.markup`. `trims` gives a line feed at either end of the text to the
    markup, as the parser strips it.
    """

    reads: str
    tags: Tags = field(default_factory=dict)
    then: Mapping[str, str] = field(default_factory=dict)
    trims: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """Finds the next marker, the longest where several begin at one place."""
        if not self.tags:
            return None
        return re.compile("|".join(map(re.escape, sorted(self.tags, key=len, reverse=True))))

    @cached_property
    def longest(self) -> int:
        """Length of the longest marker."""
        return max(map(len, self.tags), default=0)

    def may_grow(self, text: str, start: int, end: int) -> bool:
        """Whether a marker found may yet turn out to be a longer one, with more text."""
        if len(text) - start >= self.longest:
            return False
        tail = text[start:]
        return any(len(tag) > end - start and tag.startswith(tail) for tag in self.tags)

    def partial(self, text: str, at: int) -> int:
        """Where a marker may have begun that is not complete at the end of `text`."""
        for start in range(max(at, len(text) - self.longest + 1), len(text)):
            tail = text[start:]
            if any(tag.startswith(tail) for tag in self.tags):
                return start
        return len(text)


@dataclass(frozen=True)
class Family:
    """A family of parsers: its modes, by name. Output starts in `start`.

    `thinking` is the mode of an output whose prompt has opened the reasoning block already.
    """

    name: str
    modes: Mapping[str, Mode]
    start: str = "text"
    thinking: str = "reasoning"
