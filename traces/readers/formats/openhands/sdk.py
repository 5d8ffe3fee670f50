"""Event files of the OpenHands SDK (version 1).

{"kind":"ActionEvent","source":"agent","thought":[…],"tool_call":{"id","name","arguments"},
 "llm_response_id":"…"}
{"kind":"ObservationEvent","tool_call_id":"…","observation":{"content":[…],"is_error":false}}
"""

from typing import Any

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Result, Said
from traces.readers.chat.log import Log
from traces.readers.chat.payloads import Outcome
from traces.readers.chat.shapes import integer, items, mapping, mappings, text, text_or_none
from traces.readers.chat.tools import recorded_tools
from traces.session.turn import Times


class SdkLog(Log):
    """Takes SDK events; actions of one response share its ``llm_response_id``."""

    toolset: str | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._answers: dict[str, Answer] = {}

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        kind = text(row.get("kind"))
        blobs = self.builder.intake.blobs
        if kind == "SystemPromptEvent":
            prompt = mapping(row.get("system_prompt")) or row.get("system_prompt")
            self.transcript.append(
                Said("system", content_parts(prompt, blobs), "harness", (number,))
            )
            if items(row.get("tools")):
                self.toolset = self.builder.toolset(recorded_tools(row["tools"]))
        elif kind == "MessageEvent":
            message = mapping(row.get("llm_message"))
            found = self.chat.message(message, (number,))
            for item in found:
                if isinstance(item, Answer):
                    self._settle(item, row)
            self.transcript += found
            return None if found else "no_message"
        elif kind == "ActionEvent":
            self._action(number, row)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._observation(number, row, kind)
        elif kind == "ConversationStateUpdateEvent":
            usage = mapping(mapping(row.get("value")).get("usage_to_metrics"))
            name = mapping(usage.get("default")).get("model_name")
            self.model = text_or_none(name) or self.model
            return "state"
        else:
            return kind or "no_kind"
        return None

    def _action(self, number: int, row: dict[str, Any]) -> None:
        call = mapping(row.get("tool_call"))
        function = mapping(call.get("function")) or call
        made = tool_call(
            row.get("tool_call_id") or call.get("id"),
            function.get("name") or row.get("tool_name"),
            function.get("arguments"),
        )
        key = text(row.get("llm_response_id"))
        answer = self._answers.get(key)
        if answer is None or not key:
            answer = Answer(parts=content_parts(row.get("thought"), self.builder.intake.blobs))
            answer.reasoning = text(row.get("reasoning_content"))
            answer.state = "visible" if answer.reasoning else "none"
            if not answer.reasoning and mappings(row.get("thinking_blocks")):
                answer.state = "empty_signed"
            self._answers[key] = answer
            self._settle(answer, row)
            self.transcript.append(answer)
        answer.calls.append(made)
        answer.rows += (number,)
        answer.finish_reason = "tool_calls"

    def _settle(self, answer: Answer, row: dict[str, Any]) -> None:
        at = text_or_none(row.get("timestamp"))
        answer.times = Times(end=at) if at else None
        answer.response_id = text_or_none(row.get("llm_response_id"))
        answer.model, answer.toolset = self.model, self.toolset

    def _observation(self, number: int, row: dict[str, Any], kind: str) -> None:
        seen = mapping(row.get("observation"))
        content = seen.get("content", row.get("error", row.get("rejection_reason")))
        code = integer(seen.get("exit_code"))
        error = seen.get("is_error")
        result = Result(
            text(row.get("tool_call_id")),
            content_parts(content, self.builder.intake.blobs),
            (number,),
            error if isinstance(error, bool) else True if kind != "ObservationEvent" else None,
            None if code is None else Outcome(code),
            text_or_none(row.get("timestamp")),
        )
        self.transcript.append(result)
