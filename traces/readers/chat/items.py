"""The neutral words in which a reader tells what a log holds, in the order it was logged."""

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

import msgspec

from traces.readers.chat.arguments import Call
from traces.readers.chat.content import Parts
from traces.readers.chat.payloads import Outcome
from traces.session.message import Message, Origin, Role, make_message
from traces.session.turn import Fidelity, ReasoningState, Restart, Sampling, Times, Usage

Rows = tuple[int, ...]

EMPTY = "response_empty"
"""Why a response that holds nothing is not replayed."""


class Said(msgspec.Struct, gc=False):
    """A message that is neither response nor result: system, user, text the harness added."""

    role: Role
    parts: Parts
    origin: Origin
    rows: Rows = ()

    def message(self) -> Message:
        """The message itself."""
        return make_message(self.role, self.parts, origin=self.origin, rows=self.rows)


class Result(msgspec.Struct, gc=False):
    """What a tool gave back for the call named `call_id`. `at` is an ISO 8601 moment."""

    call_id: str
    parts: Parts
    rows: Rows = ()
    is_error: bool | None = None
    outcome: Outcome | None = None
    at: str | None = None

    def message(self) -> Message:
        """The tool message."""
        return make_message(
            "tool",
            self.parts,
            origin="tool",
            tool_call_id=self.call_id,
            is_error=self.is_error,
            rows=self.rows,
        )


class Answer(msgspec.Struct, gc=False):
    """One response of the model. Not a `target`: it is history only (a demonstration, a copy).

    `facts` are further fields of the turn.
    """

    parts: Parts = msgspec.field(default_factory=list)
    calls: list[Call] = msgspec.field(default_factory=list)
    reasoning: str = ""
    state: ReasoningState = "none"
    rows: Rows = ()
    target: bool = True
    skip_reason: str | None = None
    response_id: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    sampling: Sampling | None = None
    times: Times | None = None
    toolset: str | None = None
    facts: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the model gave nothing that can be seen: no text, no call, no reasoning."""
        return not (self.parts or self.calls or self.reasoning)

    def message(self) -> Message:
        """The assistant message."""
        return make_message(
            "assistant",
            self.parts,
            origin="model",
            reasoning=self.reasoning,
            tool_calls=[call.recorded() for call in self.calls] if self.calls else (),
            rows=self.rows,
        )


class Replaced(msgspec.Struct, gc=False):
    """From here on the model saw `history` in place of everything before.

    `keep_system`: leading system messages stay in front of it. `fidelity` is that of the prompts
    from here on.
    """

    history: "list[Said | Result | Answer | Replaced]"
    reason: Restart = "compaction"
    keep_system: bool = True
    fidelity: Fidelity = "after_compaction"


Item = Said | Result | Answer | Replaced


def standing(transcript: Iterable[Item]) -> list[Said | Result | Answer]:
    """What the model saw at the end of a transcript, with every replacement made."""
    found: list[Said | Result | Answer] = []
    for item in transcript:
        if not isinstance(item, Replaced):
            found.append(item)
            continue
        leading = takewhile(lambda said: isinstance(said, Said) and said.role == "system", found)
        found = [*(leading if item.keep_system else ()), *standing(item.history)]
    return found
