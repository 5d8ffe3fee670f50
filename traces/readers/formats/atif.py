"""ATIF trajectories (Harbor, Terminal-Bench 2), versions 1.x.

    {"schema_version":"ATIF-v1.7","session_id":"…","agent":{"name":"…","tool_definitions":[…]},
     "steps":[{"step_id":1,"source":"user","message":"…"}, …]}

Steps copied from an earlier trajectory are history only. A step that sums up several responses, or
none, is not a turn that can be replayed.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.arguments import tool_call
from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.chat import ChatReader
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Result, Said
from traces.readers.chat.shapes import integer, items, mapping, mappings, text, text_or_none
from traces.readers.chat.tools import recorded_tools
from traces.readers.chat.transcript import add_thread
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.readers.tags import scalar_tags
from traces.session.message import Origin, Role
from traces.session.session import Parent, Session
from traces.session.turn import Sampling, Times, Usage


class Atif:
    """Reads trajectories, one per row or one per file, with their subagents."""

    format: ClassVar[str] = "atif"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"schema_version"})

    def match(self, sample: Sample) -> float:
        """Objects with steps, an agent, and a schema version 1.x or ATIF-v1.x."""
        return share(sample, sum(_is_trajectory(row) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The trajectories of the file, each followed by those of its subagents."""
        for number, row in intake.source.rows():
            if not isinstance(row, dict) or not _is_trajectory(row):
                intake.ledger.skip(number, "no_trajectory")
                continue
            intake.ledger.use(number)
            yield from self._trajectory(row, number, intake, None)

    def _trajectory(
        self, row: dict[str, Any], number: int, intake: Intake, parent: str | None
    ) -> Iterator[Session]:
        agent = mapping(row.get("agent"))
        builder = SessionBuilder(intake)
        builder.session_id = text_or_none(row.get("trajectory_id", row.get("session_id")))
        builder.format_version = text_or_none(row.get("schema_version"))
        builder.tool = text_or_none(agent.get("name"))
        builder.tool_version = text_or_none(agent.get("version"))
        builder.parent = Parent(session_id=parent) if parent else None
        builder.tags = scalar_tags(mapping(row.get("tags")))
        definitions = items(agent.get("tool_definitions"))
        toolset = builder.toolset(recorded_tools(definitions)) if definitions else None
        transcript: list[Item] = []
        chat = ChatReader(intake.blobs)
        for step in items(row.get("steps")):
            for item in _step_items(mapping(step), number, chat):
                if isinstance(item, Answer):
                    item.model = item.model or text_or_none(agent.get("model_name"))
                    item.toolset = toolset
                transcript.append(item)
        builder.started_at = next(
            (s["timestamp"] for s in mappings(row.get("steps")) if text(s.get("timestamp"))), None
        )
        if chat.left_out:
            builder.left_out(number, chat.left_out)
        add_thread(builder, transcript, fidelity="lossy" if chat.left_out else "rebuilt")
        session = builder.build()
        if session.turns:
            yield session
        for inner in mappings(row.get("subagent_trajectories")):
            yield from self._trajectory(inner, number, intake, session.session_id)


def _is_trajectory(row: dict[str, Any]) -> bool:
    version = text(row.get("schema_version"))
    named = version.startswith(("ATIF-v", "1."))
    return named and isinstance(row.get("steps"), list) and isinstance(row.get("agent"), dict)


def _step_items(step: dict[str, Any], number: int, chat: ChatReader) -> list[Item]:
    blobs, rows = chat.blobs, (number,)
    source = step.get("source")
    if source not in ("system", "user", "agent"):
        chat.left_out += 1
        return []
    parts = content_parts(step.get("message"), blobs)
    if source != "agent":
        role: Role = "system" if source == "system" else "user"
        origin: Origin = "harness" if source == "system" else "human"
        said = Said(role, parts, origin, rows)
        return [said, *_results(step, [], number, chat)]
    answer = Answer(parts=parts, rows=rows)
    answer.calls = [
        tool_call(call.get("tool_call_id"), call.get("function_name"), call.get("arguments"))
        for call in chat.objects(step.get("tool_calls"))
    ]
    answer.reasoning = text(step.get("reasoning_content"))
    answer.state = "visible" if answer.reasoning else "none"
    answer.model = text_or_none(step.get("model_name"))
    answer.target = step.get("is_copied_context") is not True
    responses = integer(step.get("llm_call_count"))
    if responses == 0:
        answer.skip_reason = "no_model_response"
    elif responses is not None and responses > 1:
        answer.skip_reason = "several_responses_in_one_step"
    metrics = mapping(step.get("metrics"))
    if metrics:
        answer.usage = Usage(
            prompt=integer(metrics.get("prompt_tokens")),
            cached=integer(metrics.get("cached_tokens")),
            completion=integer(metrics.get("completion_tokens")),
        )
    effort, at = text_or_none(step.get("reasoning_effort")), text_or_none(step.get("timestamp"))
    answer.sampling = Sampling(effort=effort) if effort else None
    answer.times = Times(end=at) if at else None
    return [answer, *_results(step, [call.id for call in answer.calls], number, chat)]


def _results(step: dict[str, Any], asked: list[str], number: int, chat: ChatReader) -> list[Item]:
    """The observation of a step: results of its calls; without an id, in call order."""
    found: list[Item] = []
    blobs = chat.blobs
    results = chat.objects(mapping(step.get("observation")).get("results"))
    named = {text(result.get("source_call_id")) for result in results}
    waiting = [call for call in asked if call not in named]
    for result in results:
        call_id = text(result.get("source_call_id"))
        content = result.get("content")
        if content is None and result.get("subagent_trajectory_ref") is not None:
            content = "[result of a subagent]"
        parts = content_parts(content, blobs)
        if not call_id and waiting:
            call_id = waiting.pop(0)
        if call_id:
            found.append(Result(call_id, parts, (number,)))
        else:
            found.append(Said("user", parts, "tool", (number,)))
    return found
