"""The fixture `capture`: ask one path, and look at the answer."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from draftgate.pytest_plugin.ending import failed_or_skipped
from draftgate.pytest_plugin.source import Source
from draftgate.testing.answer import Answer
from draftgate.testing.recorded_turn import RecordedTurn

_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True, repr=False)
class Capturing:
    """``answer = capture("List the files.", path="baseline")``. `answers` are those so far."""

    source: Source
    shared: Path
    answers: list[Answer] = field(default_factory=list)

    @failed_or_skipped()
    def __call__(
        self, what: RecordedTurn | Mapping[str, Any] | str, *, path: str = "candidate"
    ) -> Answer:
        """The answer of `path` to a recorded turn, a chat-completions request, or a user's words.

        Skips the test where there is no such answer and no server to ask.
        """
        turn = what if isinstance(what, RecordedTurn) else _asked(what)
        answer = self.source.answer(turn, path, self.shared)
        self.answers.append(answer)
        return answer

    def texts(self) -> Iterator[str]:
        """Everything recorded in the answers so far, for masking."""
        for answer in self.answers:
            yield from answer.texts()


def _asked(what: Mapping[str, Any] | str) -> RecordedTurn:
    words = {"messages": [{"role": "user", "content": what}]}
    name = f"request-{next(_NUMBERS)}"
    return RecordedTurn(name, "pytest", name, words if isinstance(what, str) else dict(what))
