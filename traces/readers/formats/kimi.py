"""Kimi CLI wire logs.

    {"type":"config.update","systemPrompt":"…"}
    {"type":"context.append_message","message":{"role":"user","content":[…]}}
    {"type":"context.append_loop_event","event":{"type":"tool.call","stepUuid":"…","name":"Bash",…}}
    {"type":"context.apply_compaction","summary":"…","contextSummary":"…"}

A step is one response; its parts and calls name it.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Replaced, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.shapes import integer, items, mapping, text, text_or_none
from traces.readers.chat.tools import ObservedTools, recorded_tools
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session
from traces.session.turn import Sampling, Usage

FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


class Kimi:
    """Reads one log."""

    format: ClassVar[str] = "kimi"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"message", "event"})

    def match(self, sample: Sample) -> float:
        """Rows of types ``context.*``, ``llm.*`` and their companions."""
        kinds = [text(row.get("type")) for row in sample.objects]
        if not any(kind.startswith("context.append_") for kind in kinds):
            return 0.0
        return share(sample, sum(bool(kind) for kind in kinds))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the file."""
        yield from _KimiLog(SessionBuilder(intake, tool="Kimi CLI")).read(intake.source.rows())


class _KimiLog(Log):
    prompt: str | None = None
    toolset: str | None = None
    model: str | None = None
    effort: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._steps: dict[str, Answer] = {}

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        kind = text(row.get("type"))
        blobs = self.builder.intake.blobs
        if kind == "context.append_loop_event":
            return self._event(number, mapping(row.get("event")))
        if kind == "config.update":
            return self._configure(number, row)
        if kind == "tools.set_active_tools":
            names = [name for name in items(row.get("names")) if isinstance(name, str)]
            self.builder.observed = ObservedTools(n for n in names if "*" not in n)
        elif kind == "llm.tools_snapshot":
            tools = recorded_tools(embedded(row.get("tools")))
            self.toolset = self.builder.toolset(tools) if tools else self.toolset
            return None if tools else kind
        elif kind == "llm.request":
            self.model = text_or_none(row.get("model")) or self.model
        elif kind == "context.append_message":
            message = mapping(row.get("message"))
            found = self.chat.message(message, (number,))
            if mapping(message.get("origin")).get("kind") != "user":
                for item in found:
                    if isinstance(item, Said):
                        item.origin = "harness"
            self.transcript += found
            return None if found else "no_message"
        elif kind == "context.apply_compaction":
            summary = text(row.get("contextSummary")) or text(row.get("summary"))
            said = Said("user", content_parts(summary, blobs), "summary", (number,))
            self.transcript.append(Replaced([said]))
        else:
            return kind or "no_type"
        return None

    def _configure(self, number: int, row: dict[str, Any]) -> str | None:
        self.effort = text_or_none(row.get("thinkingEffort")) or self.effort
        given = row.get("systemPrompt")
        if not given:
            return None
        if not isinstance(given, str) or (self.transcript and given != self.prompt):
            self.builder.left_out(number, 1)
            return "system_prompt"
        if not self.transcript:
            self.prompt = given
            parts = content_parts(given, self.builder.intake.blobs)
            self.transcript.append(Said("system", parts, "harness", (number,)))
        return None

    def _event(self, number: int, event: dict[str, Any]) -> str | None:
        kind = text(event.get("type"))
        blobs = self.builder.intake.blobs
        if kind == "tool.result":
            result = mapping(event.get("result"))
            error = result.get("isError", result.get("is_error"))
            parts = content_parts(result.get("output", result.get("content")), blobs)
            known = error if isinstance(error, bool) else None
            self.transcript.append(Result(text(event.get("toolCallId")), parts, (number,), known))
            return None
        if kind not in ("content.part", "tool.call", "step.end"):
            return f"event_{kind or 'of_no_type'}"
        answer = self._step(number, text(event.get("stepUuid")) or text(event.get("uuid")))
        if kind == "tool.call":
            answer.calls.append(
                tool_call(event.get("toolCallId"), event.get("name"), event.get("args"))
            )
        elif kind == "content.part":
            part = mapping(event.get("part"))
            if part.get("type") == "think":
                answer.reasoning += text(part.get("think"))
                answer.state = "visible" if answer.reasoning else "encrypted"
            else:
                answer.parts += content_parts(part, blobs)
        else:
            answer.response_id = text_or_none(event.get("messageId"))
            reason = text(event.get("finishReason"))
            answer.finish_reason = FINISH.get(reason, reason) or None
            answer.usage = _usage(mapping(event.get("usage")))
        return None

    def _step(self, number: int, step: str) -> Answer:
        answer = self._steps.get(step)
        if answer is None:
            answer = Answer(model=self.model, toolset=self.toolset)
            answer.sampling = Sampling(effort=self.effort) if self.effort else None
            self._steps[step] = answer
            self.transcript.append(answer)
        answer.rows += (number,)
        return answer


def _usage(usage: dict[str, Any]) -> Usage | None:
    if not usage:
        return None
    read = integer(usage.get("inputCacheRead"))
    prompt = [integer(usage.get("inputOther")), read, integer(usage.get("inputCacheCreation"))]
    return Usage(
        prompt=sum(part for part in prompt if part is not None),
        cached=read,
        completion=integer(usage.get("output")),
    )
