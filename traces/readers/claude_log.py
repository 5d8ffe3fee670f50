"""From rows of a Claude Code log to turns: rows of one response joined, prompts from the tree."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

from traces.message import Text
from traces.readers.builder import SessionBuilder
from traces.readers.claude_rows import ClaudeRow
from traces.readers.claude_tree import Path, Tree
from traces.readers.items import Answer, Result, Said
from traces.readers.results import Results


class ClaudeLog:
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

    def __init__(self, log: ClaudeLog, builder: SessionBuilder) -> None:
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
