"""Makes rows of raw exchanges and keeps them: the work of the writer process, without the process.

    {"route": "/v1/messages", "session_id": "20261130T212201-7f3a-000001",
     "startTime": "2026-11-30T21:22:01.123+00:00", "completionStartTime": "…", "endTime": "…",
     "metadata": {"tags": {"route": "messages"}},
     "request": {"model": "m", "messages": […], …}, "response": {"choices": […], …}}

A row is one exchange in the format `request-log`, which every verb reads: the request without
identities, the answer folded, both redacted.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from replay.writing.budget import Budget
from replay.writing.cleaning import Cleaner, NotRedacted, without_identities
from replay.writing.exchanged import NO_EXCHANGE, Confirmed, Exchanged
from replay.writing.reading import ROUTE_OF, NotATurn, bodies_of
from replay.writing.segments import BudgetUsed, Segments
from replay.writing.shadow import Copy, Shadow
from replay.writing.share import is_drawn
from replay.writing.stitching import Stitcher
from traces.errors import OutputError
from traces.json_bytes import encode_json
from traces.readers.chat.items import Answer
from traces.readers.chat.repeated import Entry, PromptReader, entries_of
from traces.readers.formats.requests.exchange import read_exchange
from traces.session.blobs import BlobStore


class WriterSettings(msgspec.Struct, frozen=True):
    """What a writer is started with. Sizes are in bytes."""

    folder: str
    rate: float
    seed: int
    rotate: int
    max_bytes: int
    shadow: str | None = None


@dataclass(slots=True)
class Writer:
    """Records exchanges one after the other; `prefix` begins the names of its sessions and files,
    and is another one for every writer."""

    settings: WriterSettings
    prefix: str
    segments: Segments = field(init=False)
    stitcher: Stitcher = field(init=False)
    _prompts: PromptReader = field(default_factory=lambda: PromptReader(BlobStore()))
    _cleaners: dict[str, Cleaner] = field(default_factory=dict)
    _turns: Counter[str] = field(default_factory=Counter)
    _shadow: Shadow | None = None

    def __post_init__(self) -> None:
        """Raises OSError where the folder is not there."""
        wanted = self.settings
        folder = Path(wanted.folder)
        budget = Budget(folder, wanted.max_bytes)
        self.segments = Segments(folder, self.prefix, wanted.rotate, budget)
        self.stitcher = Stitcher(self.prefix)
        if wanted.shadow is not None:
            self._shadow = Shadow(wanted.shadow, folder / "shadow", self.prefix, budget)

    def record(self, exchanged: Exchanged) -> Confirmed:
        """Keep an exchange, or say why it is not kept. Never raises."""
        try:
            return self._record(exchanged)
        except NotATurn as error:
            return Confirmed(exchanged.number, error.reason)
        except NotRedacted:
            return Confirmed(exchanged.number, "unreadable")
        except BudgetUsed:
            return Confirmed(exchanged.number, "budget")
        except OutputError as error:
            return Confirmed(exchanged.number, "disk", detail=str(error))
        except Exception as error:
            # Traffic is hostile input: what nobody foresaw costs one turn, which is counted.
            return Confirmed(exchanged.number, "unreadable", detail=type(error).__name__)

    def close(self) -> Confirmed:
        """Flush all files, after the answers that are still to come from the shadow."""
        self.segments.close()
        counts = self._shadow.close() if self._shadow is not None else {}
        return Confirmed(NO_EXCHANGE, shadow=counts)

    def _record(self, exchanged: Exchanged) -> Confirmed:
        bodies = bodies_of(exchanged)
        request = without_identities(bodies.request)
        read = read_exchange(request, bodies.answer, exchanged.number, self._prompts)
        if not read.prompt or not is_drawn(read.prompt, self.settings.rate, self.settings.seed):
            return Confirmed(exchanged.number, "not_drawn" if read.prompt else "not_a_request")
        answer = read.answer or Answer()
        session, is_new = self.stitcher.session_of(read.prompt, _entry(answer))
        self._forget()
        cleaner = self._cleaners.setdefault(session, Cleaner())
        asked, answered = cleaner.clean(request, bodies.answer)
        row = row_of(exchanged, session, asked, answered)
        size = self.segments.append(session, encode_json(row) + b"\n")
        turn = f"t{self._turns[session]:04d}"
        self._turns[session] += 1
        counts: dict[str, int] = {}
        if self._shadow is not None:
            self._shadow.offer(Copy(session, turn, bodies.request, exchanged))
            counts = self._shadow.counted()
        return Confirmed(exchanged.number, bytes=size, sessions=int(is_new), shadow=counts)

    def _forget(self) -> None:
        while self.stitcher.forgotten:
            name = self.stitcher.forgotten.pop()
            self._cleaners.pop(name, None)
            self._turns.pop(name, None)
            self.segments.forget(name)


def row_of(
    exchanged: Exchanged, session: str, request: dict[str, Any], answer: dict[str, Any]
) -> dict[str, Any]:
    """The row of an exchange whose bodies are redacted."""
    first_ms = exchanged.reads[0][0] if exchanged.reads else exchanged.ended_ms
    return {
        "route": exchanged.route,
        "session_id": session,
        "startTime": _moment(exchanged.sent_at, 0.0),
        "completionStartTime": _moment(exchanged.sent_at, first_ms),
        "endTime": _moment(exchanged.sent_at, exchanged.ended_ms),
        "metadata": {"tags": {"route": ROUTE_OF[exchanged.route]}},
        "request": request,
        "response": answer,
    }


def _entry(answer: Answer) -> Entry:
    return entries_of(answer)[0]


def _moment(sent_at: float, later_ms: float) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    at = datetime.fromtimestamp(sent_at + later_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds")
