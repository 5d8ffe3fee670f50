"""From rows of a Claude Code log to turns: rows of one response joined, prompts from the tree."""

from typing import Any

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.items import EMPTY, Answer, Result, Said
from traces.readers.chat.results import Results
from traces.readers.formats.claude.rows import ClaudeRow, settle_answer
from traces.readers.formats.claude.tree import Path, Tree
from traces.session.message import Blob, Message, Note, Text
from traces.session.turn import Fidelity

SUMMARY_THREAD = "sidechain:acompact"
"""The agent that sums up a conversation; its prompt is that conversation, which it does not log."""

SUMMARY_PROMPT = "summary_prompt_not_recorded"

Group = tuple[str | None, str, str]
"""Session, thread and id of a response."""


class ClaudeLog:
    """Joins the rows of each response and walks the tree for its prompt."""

    def __init__(self, rows: list[ClaudeRow], builders: dict[str | None, SessionBuilder]) -> None:
        self.rows, self.builders = rows, builders
        self.tree = Tree(rows)
        self._messages: dict[Group, Message] = {}
        self.groups: dict[Group, list[int]] = {}
        self.group_of: dict[int, Group] = {}
        for position, row in enumerate(rows):
            if row.group:
                name = row.session, row.thread, row.group
                self.groups.setdefault(name, []).append(position)
                self.group_of[position] = name
        self.cut = {row.session for row in rows if row.left_out}
        self.kept: dict[int, list[int]] = {}
        self._find_kept()
        self.answers = {name: self._joined(places) for name, places in self.groups.items()}
        said = [item for row in rows for item in row.items if isinstance(item, Result)]
        self.results = Results.of([*self.answers.values(), *said])
        self.given = {
            name: [self.results.take(call.id) for call in answer.calls]
            for name, answer in self.answers.items()
        }

    def _joined(self, places: list[int]) -> Answer:
        rows = [self.rows[place] for place in places]
        parts = [item for row in rows for item in row.items if isinstance(item, Answer)]
        joined = join_answers(parts)
        settle_answer(joined, rows)
        return joined

    def _find_kept(self) -> None:
        """Where rows that a compaction kept come again."""
        for position, row in enumerate(self.rows):
            if row.kept or row.stretch:
                found = self.tree.kept(position)
                if found is None:
                    self.builders[row.session].warn("kept_message_not_found", row.number)
                    self.cut.add(row.session)
                else:
                    self.kept[found[1]] = found[0]

    def message(self, group: Group) -> Message:
        """The message of a response."""
        made = self._messages.get(group)
        if made is None:
            made = self._messages[group] = self.answers[group].message()
        return made

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
                path = Path(self.tree, _Contributor(self, builder))
                paths[row.session, thread] = path
            answer, given = self.answers[name], self.given[name]
            if row.thread.startswith(SUMMARY_THREAD):
                answer.skip_reason = SUMMARY_PROMPT
            elif answer.is_empty:
                answer.skip_reason = EMPTY
            place = builder.thread(thread)
            path.move(self.tree.parents[first], place)
            compacted = path.compacted
            fidelity: Fidelity = "after_compaction" if compacted else "rebuilt"
            builder.turn(
                place,
                answer,
                None if answer.is_empty else self.message(name),
                fidelity="lossy" if row.session in self.cut or path.broken else fidelity,
                restart="compaction" if compacted else "rewind",
                outcomes=[None if result is None else result.outcome for result in given],
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
        for row in self.rows:
            if row.left_out:
                self.builders[row.session].left_out(row.number, row.left_out)
        for result in self.results.extra:
            builder = self.builders[self.rows[0].session]
            builder.warn("second_result_dropped", result.rows[0])


class _Contributor:
    """Says which messages a row adds to a prompt."""

    def __init__(self, log: ClaudeLog, builder: SessionBuilder) -> None:
        self.log, self.builder = log, builder

    def __call__(self, position: int, path: Path) -> list[str] | None:
        if self.log.rows[position].boundary:
            return None
        group = self.log.group_of.get(position)
        if group is not None and not path.enter_group(group):
            return []
        added = self._messages(position)
        if position not in self.log.kept:
            return added
        groups: set[Group] = set()
        for kept in self.log.kept[position]:
            group = self.log.group_of.get(kept)
            if group is None or group not in groups:
                added += self._messages(kept)
            if group is not None:
                groups.add(group)
        return added

    def _messages(self, position: int) -> list[str]:
        """The messages of a row, or of the response that it is a part of."""
        row = self.log.rows[position]
        group = self.log.group_of.get(position)
        if group is not None:
            add = self.builder.add
            added = [] if self.log.answers[group].is_empty else [add(self.log.message(group))]
            for result in self.log.given[group]:
                if result is not None:
                    added.append(add(result.message()))
            return added
        if row.items:
            self.builder.intake.ledger.use(row.number)
        return [
            self.builder.add(item.message())
            for item in row.items
            if isinstance(item, Said)
            or (isinstance(item, Result) and self.log.results.is_orphan(item))
        ]


def join_answers(answers: list[Answer]) -> Answer:
    """One response from its rows: one block each, or snapshots that grow while it streams."""
    if len(answers) == 1:
        return answers[0]
    joined = Answer()
    known: set[Text | Blob | Note] = set()
    thoughts: list[str] = []
    calls = {}
    for answer in answers:
        joined.rows += answer.rows
        for part in answer.parts:
            if joined.parts and _grows(joined.parts[-1], part):
                joined.parts[-1] = part
            elif part not in known:
                joined.parts.append(part)
            known.add(part)
        for call in answer.calls:
            calls[call.id] = call
        if answer.reasoning:
            if thoughts and answer.reasoning.startswith(thoughts[-1]):
                thoughts[-1] = answer.reasoning
            elif answer.reasoning not in thoughts:
                thoughts.append(answer.reasoning)
        if answer.state != "none" and joined.state in ("none", "empty_signed"):
            joined.state = answer.state
    joined.calls = list(calls.values())
    joined.reasoning = "\n".join(thoughts)
    return joined


def _grows(last: Any, part: Any) -> bool:
    """Whether a text block is a later snapshot of the block before it."""
    return isinstance(part, Text) and isinstance(last, Text) and part.text.startswith(last.text)
