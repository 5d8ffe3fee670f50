"""The stream of ``codex exec --json``. It holds no user prompt, so its turns cannot be replayed.

{"type":"thread.started","thread_id":"…"}
{"type":"item.completed","item":{"id":"…","type":"agent_message","text":"…"}}
{"type":"turn.completed","usage":{"input_tokens":900,"output_tokens":55}}
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Result
from traces.readers.chat.log import Log
from traces.readers.chat.payloads import Outcome
from traces.readers.chat.shapes import integer, mapping, text, text_or_none
from traces.readers.files.json_text import dump
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session

ROW_TYPES = ("thread.", "turn.", "item.")


class CodexExec:
    """Reads one stream."""

    format: ClassVar[str] = "codex-exec"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"thread_id", "item"})

    def match(self, sample: Sample) -> float:
        """Rows of types ``thread.*``, ``turn.*`` and ``item.*``."""
        rows = sample.objects
        return share(sample, sum(text(row.get("type")).startswith(ROW_TYPES) for row in rows))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the stream."""
        log = _ExecLog(SessionBuilder(intake, tool="Codex CLI"), fidelity="lossy")
        yield from log.read(intake.source.rows())


class _ExecLog(Log):
    def take(self, number: int, row: dict[str, Any]) -> str | None:
        kind = text(row.get("type"))
        if kind == "thread.started":
            self.builder.session_id = text_or_none(row.get("thread_id"))
            return None
        if kind != "item.completed":
            return kind or "no_type"
        item = mapping(row.get("item"))
        return self._item(number, text(item.get("type")), item)

    def _item(self, number: int, kind: str, item: dict[str, Any]) -> str | None:
        blobs = self.builder.intake.blobs
        if kind in ("agent_message", "reasoning"):
            last = self.transcript[-1] if self.transcript else None
            if not isinstance(last, Answer) or last.calls:
                last = Answer()
                self.transcript.append(last)
            last.rows += (number,)
            if kind == "reasoning":
                last.reasoning, last.state = text(item.get("text")), "summary"
            else:
                last.parts += content_parts(item.get("text"), blobs)
            return None
        if kind not in ("command_execution", "file_change", "mcp_tool_call", "web_search"):
            return f"item_{kind or 'of_no_type'}"
        given = {k: v for k, v in item.items() if k in ("command", "changes", "tool", "query")}
        last = self.transcript[-1] if self.transcript else None
        if not isinstance(last, Answer):
            last = Answer()
            self.transcript.append(last)
        call = tool_call(item.get("id"), kind, given)
        last.calls.append(call)
        last.rows += (number,)
        output = item.get("aggregated_output", item.get("result", item.get("status")))
        code = integer(item.get("exit_code"))
        shown = output if isinstance(output, str) else dump(output)
        outcome = None if code is None else Outcome(code)
        self.transcript.append(
            Result(call.id, content_parts(shown, blobs), (number,), outcome=outcome)
        )
        return None
