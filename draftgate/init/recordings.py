"""What recorded sessions hold, as far as a first configuration depends on it."""

from collections.abc import Sequence
from dataclasses import dataclass

from traces.counted import counted
from traces.importing.importer import import_files
from traces.importing.inspection import inspect_file


@dataclass(frozen=True, slots=True)
class SeenSessions:
    """Counts over all files. `output_tokens` and `longest_prompt` are estimates, in tokens;
    `unread` are files that hold nothing to replay, with the reason.
    """

    files: int = 0
    sessions: int = 0
    turns: int = 0
    replayable: int = 0
    tool_calls: int = 0
    output_tokens: int = 0
    longest_prompt: int = 0
    unread: tuple[str, ...] = ()

    def line(self) -> str:
        """For people."""
        return (
            f"{counted(self.sessions, 'session')} in {counted(self.files, 'file')}, "
            f"{self.replayable:,} of "
            f"{self.turns:,} turns can be replayed, about {self.output_tokens:,} output tokens, "
            f"longest prompt about {self.longest_prompt:,}"
        )


def look_at(sessions: Sequence[str]) -> SeenSessions:
    """Read every file that `sessions` name. Raises InputError for a path that does not exist."""
    facts = [inspect_file(file) for file in import_files(sessions)] if sessions else []
    counts = [fact.file.counts for fact in facts]
    return SeenSessions(
        files=len(facts),
        sessions=sum(count.sessions for count in counts),
        turns=sum(count.turns for count in counts),
        replayable=sum(count.replayable for count in counts),
        tool_calls=sum(count.tool_calls for count in counts),
        output_tokens=sum(fact.output_tokens for fact in facts),
        longest_prompt=max((fact.longest_prompt for fact in facts), default=0),
        unread=tuple(f"{f.file.file}: {f.file.reason}" for f in facts if f.file.reason),
    )
