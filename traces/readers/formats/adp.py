"""Agent Data Protocol rows (ADP, neulab).

{"id":"…","content":[{"class_":"text_observation","source":"user","content":"…"},
 {"class_":"api_action","function":"…","kwargs":{…},"description":"…"}, …],"details":{…}}
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Result, Said
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.chat.tools import recorded_tools
from traces.readers.chat.transcript import add_thread
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.readers.tags import scalar_tags
from traces.session.session import Session
from traces.session.turn import Fidelity


class Adp:
    """Reads rows that hold one trajectory each."""

    format: ClassVar[str] = "adp"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"content"})

    def match(self, sample: Sample) -> float:
        """Rows whose content are objects with a ``class_``."""
        fits = (any("class_" in c for c in mappings(row.get("content"))) for row in sample.objects)
        return share(sample, sum(fits))

    def read(self, intake: Intake) -> Iterator[Session]:
        """One session per row."""
        for number, value in intake.source.rows():
            row = mapping(value)
            steps = items(row.get("content"))
            content = [step for step in mappings(steps) if _is_step(step)]
            if not content:
                intake.ledger.skip(number, "no_content")
                continue
            intake.ledger.use(number)
            builder = SessionBuilder(intake, session_id=text_or_none(row.get("id")))
            details = mapping(row.get("details"))
            builder.tags = scalar_tags({"resolved": details.get("resolved")})
            definitions = items(embedded(details.get("tools")))
            toolset = builder.toolset(recorded_tools(definitions)) if definitions else None
            if len(content) < len(steps):
                builder.left_out(number, len(steps) - len(content))
            fidelity: Fidelity = "lossy" if len(content) < len(steps) else "rebuilt"
            add_thread(builder, _transcript(content, number, toolset, intake), fidelity=fidelity)
            if builder.turn_count:
                yield builder.build()


def _is_step(step: dict[str, Any]) -> bool:
    return text(step.get("class_")).endswith(("_action", "_observation"))


def _transcript(
    content: list[dict[str, Any]], number: int, toolset: str | None, intake: Intake
) -> list[Item]:
    transcript: list[Item] = []
    waiting: str | None = None
    for position, step in enumerate(content):
        kind = text(step.get("class_"))
        if kind.endswith("_observation"):
            parts = content_parts(step.get("content"), intake.blobs)
            if waiting is not None and step.get("source") != "user":
                transcript.append(Result(waiting, parts, (number,)))
            else:
                transcript.append(Said("user", parts, "human", (number,)))
            waiting = None
            continue
        answer = Answer(rows=(number,), toolset=toolset)
        answer.parts = content_parts(step.get("description"), intake.blobs)
        waiting = f"call_{position}"
        if kind == "api_action":
            answer.calls = [tool_call(waiting, step.get("function"), mapping(step.get("kwargs")))]
        elif kind == "code_action":
            name = f"execute_{text(step.get('language')) or 'code'}"
            answer.calls = [tool_call(waiting, name, {"command": text(step.get("content"))})]
        else:
            answer.parts += content_parts(step.get("content"), intake.blobs)
            waiting = None
        transcript.append(answer)
    return transcript
