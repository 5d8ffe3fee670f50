"""Claude Code session logs: native JSON Lines (1.0 to 2.1, subagent files too), the stream of
``claude -p --output-format stream-json``, and web exports with ``loglines``.

Neither system prompt nor tool schemas are in these logs, so prefixes are rebuilt and tools made
from the calls observed.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from traces.message import Text
from traces.readers.builder import SessionBuilder
from traces.readers.chat import ChatReader
from traces.readers.claude_rows import ClaudeRow, read_row
from traces.readers.claude_tree import Path, Tree
from traces.readers.intake import Intake
from traces.readers.items import Answer, Result, Said
from traces.readers.reader import share
from traces.readers.results import Results
from traces.readers.shapes import items, mapping, text, text_or_none
from traces.readers.source import Sample
from traces.readers.tools import ObservedTools
from traces.session import Parent, Session

SIDE_ROWS = frozenset(
    {
        "system", "summary", "progress", "queue-operation", "file-history-snapshot",
        "file-history-delta", "permission-mode", "mode", "last-prompt", "ai-title", "custom-title",
        "agent-name", "agent-setting", "worktree-state", "pr-link", "result", "rate_limit_event",
    }
)  # fmt: skip


def _is_message_row(row: dict[str, Any]) -> bool:
    named = "uuid" in row or "sessionId" in row or "session_id" in row
    if row.get("type") == "attachment":
        return "parentUuid" in row and isinstance(row.get("attachment"), dict)
    return row.get("type") in ("user", "assistant") and "message" in row and named


class ClaudeCode:
    """Reads one log, which can hold several sessions and side threads."""

    format: ClassVar[str] = "claude-code"
    unsupported: ClassVar[str | None] = None

    def match(self, sample: Sample) -> float:
        """Rows ``user`` or ``assistant`` with a message and an id, among rows of known types."""
        lines = items(mapping(sample.document).get("loglines"))[:50]
        if lines:
            told = [mapping(line) for line in lines]
            return sum(r.get("type") in ("user", "assistant") for r in told) / len(told)
        messages = sum(_is_message_row(row) for row in sample.objects)
        beside = sum(text(row.get("type")) in SIDE_ROWS for row in sample.objects)
        return share(sample, messages + beside) if messages else 0.0

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the log, in order of appearance."""
        rows: list[ClaudeRow] = []
        builders: dict[str | None, SessionBuilder] = {}
        chats: dict[str, ChatReader] = defaultdict(lambda: ChatReader(intake.blobs))
        session: str | None = None
        for number, value in _rows(intake):
            if not isinstance(value, dict):
                intake.ledger.skip(number, "not_an_object")
                continue
            row, reason = read_row(number, value, chats[text(value.get("agentId"))])
            session = row.session = row.session or session
            if reason:
                intake.ledger.skip(number, reason)
            elif row.boundary:
                intake.ledger.use(number)
            if row.items or row.boundary or row.uuid:
                rows.append(row)
            _describe(builders, row, value, intake)
        for row in rows:
            row.session = row.session or next((r.session for r in rows if r.session), None)
        _LogBuilder(rows, builders).add_turns()
        for row in rows:
            if row.items:
                intake.ledger.skip(row.number, "after_last_response")
        for builder in builders.values():
            if builder.turn_count:
                yield builder.build()


def _rows(intake: Intake) -> Iterator[tuple[int, Any]]:
    lines = items(mapping(intake.source.document).get("loglines"))
    if lines:
        yield from enumerate(lines, 1)
    else:
        yield from intake.source.rows()


def _describe(
    builders: dict[str | None, SessionBuilder],
    row: ClaudeRow,
    value: dict[str, Any],
    intake: Intake,
) -> None:
    """Learn facts about the session a row belongs to."""
    builder = builders.get(row.session)
    if builder is None:
        builder = SessionBuilder(intake, tool="Claude Code", session_id=row.session)
        builders[row.session] = builder
    agent = text(value.get("agentId"))
    if agent and row.session and builder.parent is None and not builder.started_at:
        builder.session_id = f"{row.session}:agent-{agent}"
        builder.parent = Parent(session_id=row.session)
    builder.tool_version = builder.tool_version or text_or_none(value.get("version"))
    builder.cwd = builder.cwd or text_or_none(value.get("cwd"))
    builder.started_at = builder.started_at or text_or_none(value.get("timestamp"))
    if value.get("subtype") == "init" and isinstance(value.get("tools"), list):
        builder.observed = ObservedTools([t for t in value["tools"] if isinstance(t, str)])


class _LogBuilder:
    """Joins the rows of each response and walks the tree for its prompt."""

    def __init__(self, rows: list[ClaudeRow], builders: dict[str | None, SessionBuilder]) -> None:
        self.rows, self.builders = rows, builders
        self.tree = Tree(rows)
        self.groups: dict[str, list[int]] = defaultdict(list)
        for position, row in enumerate(rows):
            if row.group:
                self.groups[f"{row.session} {row.thread} {row.group}"].append(position)
        self.group_of = {p: name for name, places in self.groups.items() for p in places}
        self.answers = {name: self._joined(places) for name, places in self.groups.items()}
        said = [item for row in rows for item in row.items if isinstance(item, Result)]
        self.results = Results.of([*self.answers.values(), *said])
        self.given = {
            name: [self.results.take(call.id) for call in answer.calls]
            for name, answer in self.answers.items()
        }

    def _joined(self, places: list[int]) -> Answer:
        parts = [i for p in places for i in self.rows[p].items if isinstance(i, Answer)]
        return join_answers(parts)

    def add_turns(self) -> None:
        """One turn per response, in the order of their first rows."""
        paths: dict[tuple[str | None, str], Path] = {}
        for name, places in self.groups.items():
            inside = set(places)
            first = next((p for p in places if self.tree.parents[p] not in inside), places[0])
            row = self.rows[first]
            builder = self.builders[row.session]
            thread = row.thread
            if thread == "sidechain:":
                thread = f"sidechain:{self.rows[self.tree.root(first)].uuid or 'unnamed'}"
            path = paths.get((row.session, thread))
            if path is None:
                path = Path(self.tree.parents, _Contributor(self, builder))
                paths[row.session, thread] = path
            answer, given = self.answers[name], self.given[name]
            prefix = path.move(self.tree.parents[first])
            builder.turn(
                prefix,
                answer.message(),
                fidelity="after_compaction" if path.compacted else "rebuilt",
                thread=thread,
                restart="compaction" if path.compacted else "rewind",
                outcomes=[None if result is None else result.outcome for result in given],
                **answer.turn_facts(),
            )
            answered = [number for result in given if result for number in result.rows]
            for number in (*answer.rows, *answered):
                builder.intake.ledger.use(number)
            builder.unanswered += sum(result is None for result in given)
        self._warn()

    def _warn(self) -> None:
        for position in self.tree.broken:
            row = self.rows[position]
            self.builders[row.session].warn("parent_not_found", row.number)
        for result in self.results.extra:
            builder = self.builders[self.rows[0].session]
            builder.warn("second_result_dropped", result.rows[0])


class _Contributor:
    """Says which messages a row adds to a prompt."""

    def __init__(self, log: _LogBuilder, builder: SessionBuilder) -> None:
        self.log, self.builder = log, builder

    def __call__(self, position: int, path: Path) -> list[str] | None:
        row = self.log.rows[position]
        if row.boundary:
            return None
        group = self.log.group_of.get(position)
        if group is not None:
            if not path.enter_group(group):
                return []
            given = [result for result in self.log.given[group] if result is not None]
            answer = self.builder.add(self.log.answers[group].message())
            return [answer, *(self.builder.add(result.message()) for result in given)]
        added = []
        if row.items:
            self.builder.intake.ledger.use(row.number)
        for item in row.items:
            if isinstance(item, Said) or (
                isinstance(item, Result) and self.log.results.is_orphan(item)
            ):
                added.append(self.builder.add(item.message()))
        return added


def join_answers(answers: list[Answer]) -> Answer:
    """One response from its rows: one block each, or snapshots that grow while it streams."""
    joined = replace(answers[-1], parts=[], calls=[], reasoning="", rows=())
    thoughts: list[str] = []
    calls = {}
    for answer in answers:
        joined.rows += answer.rows
        for part in answer.parts:
            last = joined.parts[-1] if joined.parts else None
            if (
                isinstance(part, Text)
                and isinstance(last, Text)
                and part.text.startswith(last.text)
            ):
                joined.parts[-1] = part
            elif part not in joined.parts:
                joined.parts.append(part)
        for call in answer.calls:
            calls[call.id] = call
        if answer.reasoning:
            if thoughts and answer.reasoning.startswith(thoughts[-1]):
                thoughts[-1] = answer.reasoning
            elif answer.reasoning not in thoughts:
                thoughts.append(answer.reasoning)
        for name in ("usage", "finish_reason", "model", "times", "sampling"):
            if getattr(answer, name) is not None:
                setattr(joined, name, getattr(answer, name))
        if answer.state != "none" and joined.state in ("none", "empty_signed"):
            joined.state = answer.state
    joined.calls = list(calls.values())
    joined.reasoning = "\n".join(thoughts)
    return joined


def _grows(last: Any, part: Any) -> bool:
    """Whether a text block is a later snapshot of the block before it."""
    return isinstance(part, Text) and isinstance(last, Text) and part.text.startswith(last.text)
