"""The neutral words in which a reader tells what a log holds, in the order it was logged."""

from dataclasses import dataclass, field
from typing import Any

from traces.message import Message, Origin, Role, ToolCall, make_message
from traces.readers.content import Parts
from traces.readers.payloads import Outcome
from traces.turn import ReasoningState, Restart, Sampling, Times, Usage

Rows = tuple[int, ...]


@dataclass(slots=True)
class Said:
    """A message that is neither response nor result: system, user, text the harness added."""

    role: Role
    parts: Parts
    origin: Origin
    rows: Rows = ()

    def message(self) -> Message:
        """The message itself."""
        return make_message(self.role, self.parts, origin=self.origin, rows=self.rows)


@dataclass(slots=True)
class Result:
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


@dataclass(slots=True)
class Answer:
    """One response of the model. Not a `target`: it is history only (a demonstration, a copy).

    `facts` are further fields of the turn.
    """

    parts: Parts = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
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
    facts: dict[str, Any] = field(default_factory=dict)

    def message(self) -> Message:
        """The assistant message."""
        return make_message(
            "assistant",
            self.parts,
            origin="model",
            reasoning=self.reasoning,
            tool_calls=self.calls,
            rows=self.rows,
        )

    def turn_facts(self) -> dict[str, Any]:
        """The fields of the turn that the response itself brings."""
        return {
            "reasoning": self.state,
            "rows": self.rows,
            "skip_reason": self.skip_reason,
            "response_id": self.response_id,
            "model": self.model,
            "finish_reason": self.finish_reason,
            "usage": self.usage,
            "sampling": self.sampling,
            "times": self.times,
            "toolset": self.toolset,
            **self.facts,
        }


@dataclass(slots=True)
class Replaced:
    """From here on the model saw `history` in place of everything before.

    `keep_system`: leading system messages stay in front of it.
    """

    history: "list[Item]"
    reason: Restart = "compaction"
    keep_system: bool = True


Item = Said | Result | Answer | Replaced
