"""Recorded sessions of any known format, read one file and one session at a time.

for file in import_files(["logs/", "run.traj", "-"]):
    for session in file.sessions:      # lazily; the counts are complete afterwards
        ...
    print(file.as_json())
"""

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traces.collection import collector_paused
from traces.errors import DraftgateError, InputError
from traces.importing.inputs import InputFile, expand
from traces.importing.prompt_size import checked_sizes
from traces.readers.files.ledger import Ledger
from traces.readers.files.source import SourceFile
from traces.readers.intake import Intake
from traces.readers.reader import Reader
from traces.readers.registry import READERS, choose, reader_named
from traces.session.blobs import BlobStore
from traces.session.record import present
from traces.session.session import Session, SourceWarning

CANONICAL = "draftgate"
"""Session files of draftgate's own are as they were written: their prompts were compared then."""

READER_FAILED = "reader_failed"
UNFORESEEN = (TypeError, ValueError, LookupError, AttributeError, RecursionError, AssertionError)
"""Recordings are hostile input: what a reader did not foresee costs the rest of one file, is
reported with the file's name, and never ends an import. Tests show that no known file comes to
this."""

CONVERT = 'write each conversation as a line {"messages": [{"role": "user", "content": "…"}, …]}'
REPORT_IT = "leave the file out, or convert it to chat rows; a report of its shape would help"


@dataclass(slots=True)
class Counts:
    """Totals of a file, complete once its sessions have been read."""

    sessions: int = 0
    turns: int = 0
    replayable: int = 0
    tool_calls: int = 0

    def add(self, session: Session) -> None:
        """Count one session."""
        self.sessions += 1
        self.turns += session.stats.turns
        self.replayable += session.stats.replayable
        self.tool_calls += session.stats.tool_calls


@dataclass(slots=True)
class ImportedFile:
    """One file of an import. `format` is None where no reader fits.

    `reason` says why nothing can be replayed, where that is so. `sessions` can be read once.
    `scores` are the shares by which formats were distinguished.
    """

    file: str
    format: str | None
    sessions: Iterator[Session]
    ledger: Ledger = field(default_factory=Ledger)
    counts: Counts = field(default_factory=Counts)
    scores: dict[str, float] = field(default_factory=dict)
    reason: str | None = None
    fix: str | None = None

    @property
    def skipped(self) -> dict[str, int]:
        """Rows that are in no session, by reason."""
        return self.ledger.skipped

    @property
    def warnings(self) -> list[SourceWarning]:
        """Oddities, with their row numbers."""
        return self.ledger.warnings

    @collector_paused()
    def drain(self) -> "ImportedFile":
        """Read what is left of the sessions, for their counts alone."""
        for _ in self.sessions:
            pass
        return self

    def as_json(self) -> dict[str, Any]:
        """The file's entry in the output of ``draftgate import --json``."""
        entry: dict[str, Any] = {
            "file": self.file,
            "format": self.format,
            "sessions": self.counts.sessions,
            "turns": self.counts.turns,
            "replayable": self.counts.replayable,
            "tool_calls": self.counts.tool_calls,
            "rows": self.ledger.rows,
            "skipped": self.skipped,
            "warnings": [present(warning) for warning in self.warnings],
        }
        if self.ledger.unlisted:
            entry["warnings_unlisted"] = self.ledger.unlisted
        reasons = {"reason": self.reason, "fix": self.fix}
        return entry | {key: words for key, words in reasons.items() if words}


def import_files(
    paths: Iterable[str | Path],
    *,
    tags: Mapping[str, str] | None = None,
    blobs: BlobStore | None = None,
    format: str | None = None,
) -> Iterator[ImportedFile]:
    """Every file that `paths` name: files, folders, globs, ``-`` for standard input.

    `format` takes a reader by name instead of recognizing the format. A session id that came
    before gets a suffix, so that ids are unique in the import. Raises InputError for a path that
    does not exist or a format that is not known; a file no reader fits comes with its `reason`.
    """
    reader = None
    if format is not None and (reader := reader_named(format)) is None:
        known = ", ".join(reader.format for reader in READERS)
        raise InputError(f"no session format is called {format!r}", f"use one of: {known}")
    ids: dict[str, int] = {}
    for file in expand(paths):
        yield _imported(file, reader, blobs or BlobStore(), tags or {}, ids)


@collector_paused()
def _imported(
    file: InputFile,
    reader: Reader | None,
    blobs: BlobStore,
    tags: Mapping[str, str],
    ids: dict[str, int],
) -> ImportedFile:
    source = SourceFile(file.path, file.name)
    scores: dict[str, float] = {}
    try:
        if reader is None:
            choice = choose(source.sample)
            reader, scores = choice.reader, choice.scores
    except DraftgateError as error:
        return ImportedFile(file.name, None, iter(()), reason=str(error), fix=error.fix)
    except OSError as error:
        return ImportedFile(file.name, None, iter(()), reason=f"cannot be read: {error.strerror}")
    except UNFORESEEN as error:
        return ImportedFile(file.name, None, iter(()), reason=_unforeseen(error), fix=REPORT_IT)
    source.forget_large()
    if reader is None:
        empty = not source.head.strip()
        why = "the file is empty" if empty else "no known session format matches"
        return ImportedFile(
            file.name, None, iter(()), source.ledger, scores=scores, reason=why, fix=_fix(scores)
        )
    imported = ImportedFile(file.name, reader.format, iter(()), source.ledger, scores=scores)
    imported.reason = reader.unsupported
    intake = Intake(source, reader.format, blobs, tags)
    imported.sessions = _counted(imported, reader, intake, ids)
    return imported


def _fix(scores: Mapping[str, float]) -> str:
    """What to do with a file of no known format; some rows may look like one."""
    near = max(scores, key=lambda name: scores[name], default=None)
    forced = f"read it with --format {near}, or " if near else ""
    return forced + CONVERT


def _counted(
    imported: ImportedFile, reader: Reader, intake: Intake, ids: dict[str, int]
) -> Iterator[Session]:
    unusable: Counter[str] = Counter()
    try:
        for session in _read(reader, intake):
            name = _unused(session.session_id, ids)
            if name != session.session_id:
                imported.ledger.warn("session_id_again", None, "a suffix was added")
                session = session.replaced(session_id=name)
            if reader.format != CANONICAL:
                session = _sized(session, imported.ledger)
            imported.counts.add(session)
            unusable.update(turn.skip_reason for turn in session.turns if turn.skip_reason)
            yield session
    except DraftgateError as error:
        imported.reason, imported.fix = str(error), error.fix
        imported.ledger.warn("unreadable", None, str(error))
    except UNFORESEEN as error:
        imported.reason, imported.fix = _unforeseen(error), REPORT_IT
        imported.ledger.warn(READER_FAILED, None, type(error).__name__)
    if not imported.counts.replayable and imported.reason is None:
        imported.reason = _why_nothing(unusable, imported.skipped)


def _read(reader: Reader, intake: Intake) -> Iterator[Session]:
    """The sessions, each made without the garbage collector's rounds: readers make no cycles."""
    sessions = iter(reader.read(intake))
    while gc.isenabled():
        with collector_paused():
            session = next(sessions, None)
        if session is None:
            return
        yield session
    yield from sessions


def _sized(session: Session, ledger: Ledger) -> Session:
    """`session` with its prompts compared to the recorded counts of tokens."""
    sized = checked_sizes(session)
    if sized is not session:
        for warning in sized.warnings[len(session.warnings) :]:
            ledger.warn(warning.code, warning.row, warning.detail)
    return sized


def _unused(name: str, ids: dict[str, int]) -> str:
    """`name`, or with a number if it came before; `ids` counts how often each one was asked for."""
    ids[name] = asked = ids.get(name, 0) + 1
    return name if asked == 1 else _unused(f"{name}~{asked}", ids)


def _unforeseen(error: Exception) -> str:
    return f"its content is of a shape no reader foresaw ({type(error).__name__})"


def _why_nothing(turns: Mapping[str, int], rows: Mapping[str, int]) -> str:
    """One line that says why a file of a known format gives nothing to replay."""
    counts = turns or rows
    found = ", ".join(f"{reason}: {count}" for reason, count in list(counts.items())[:5])
    what = "turns that cannot be replayed" if turns else "no response of a model in it"
    return f"{what} ({found})" if found else what
