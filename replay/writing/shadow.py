"""Copies of recorded requests for a second server, and journals of both answers.

    DIR/shadow/baseline-main-0.jsonl.zst     what the upstream answered the client
    DIR/shadow/candidate-main-0.jsonl.zst    what the second server answers to the same request

A copy is sent once the client has its answer, so the second server never slows the first. It runs
in a thread of the writer process. The queue is bounded: a copy that does not fit is dropped and
counted. Streamed chat completions alone have copies: what the judgement reads is their stream.
Journals hold text as it was, not redacted.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from replay.sending.client import StreamClient
from replay.writing.budget import Budget
from replay.writing.exchanged import Exchanged
from traces.errors import DraftgateError
from traces.journal.arm import MAIN
from traces.journal.capture_record import decode_record, encode_record
from traces.journal.journal import JournalWriter, journal_path
from traces.wire.capture import Capture, CaptureKey
from traces.wire.route import PATHS, is_ended

MOST_WAITING = 256
MOST_BYTES = 128 << 20
"""Of copies that wait or are being answered, the upstream's answers with them."""

AT_ONCE = 64
CLOSE_S = 120.0
"""So long the answers that are still to come may take at the end."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A recorded request with the upstream's answer."""

    session: str
    turn: str
    request: dict[str, Any]
    exchanged: Exchanged

    @property
    def size(self) -> int:
        return len(self.exchanged.request) + len(self.exchanged.answer)


class Shadow:
    """Sends copies to the server at `url`, and writes journals of `run` into `folder`."""

    def __init__(self, url: str, folder: Path, run: str, budget: Budget) -> None:
        self._url, self._folder, self._run, self._budget = url, folder, run, budget
        self._counts: Counter[str] = Counter()
        self._lock = Lock()
        self._waiting = self._bytes = 0
        self._journals: dict[str, JournalWriter] = {}
        self._loop = asyncio.new_event_loop()
        serving = self._serve()
        self._thread = Thread(target=self._loop.run_until_complete, args=(serving,), daemon=True)
        self._queue: asyncio.Queue[Copy | None] = asyncio.Queue()
        self._thread.start()

    def offer(self, copy: Copy) -> None:
        """Take a copy, or drop it and count why."""
        if copy.exchanged.route != PATHS["chat"] or copy.request.get("stream") is not True:
            self._count("of other routes, or not streamed")
            return
        with self._lock:
            full = self._waiting >= MOST_WAITING or self._bytes + copy.size > MOST_BYTES
            if not full:
                self._waiting += 1
                self._bytes += copy.size
        if full:
            self._count("dropped")
        else:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, copy)

    def counted(self) -> dict[str, int]:
        """What became of copies since this was last asked."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        return dict(counts)

    def close(self) -> dict[str, int]:
        """Wait for what is still to come, at most `CLOSE_S`; the last counts."""
        self._loop.call_soon_threadsafe(self._queue.put_nowait, None)
        self._thread.join()
        for journal in self._journals.values():
            journal.close()
        return self.counted()

    async def _serve(self) -> None:
        running: set[asyncio.Task[None]] = set()
        free = asyncio.Semaphore(AT_ONCE)
        async with StreamClient(self._url, connections=AT_ONCE) as client:
            while (copy := await self._queue.get()) is not None:
                await free.acquire()
                task = asyncio.create_task(self._pair(client, copy))
                running.add(task)
                task.add_done_callback(running.discard)
                task.add_done_callback(lambda _: free.release())
            if running:
                _, late = await asyncio.wait(running, timeout=CLOSE_S)
                self._count("not answered at the end", len(late))
                for task in late:
                    task.cancel()

    async def _pair(self, client: StreamClient, copy: Copy) -> None:
        """Ask for a copy, and keep both answers."""
        try:
            answer = await client.send(self._key("candidate", copy), copy.request)
            self._keep((_upstream(self._key("baseline", copy), copy), answer))
            self._count("judged by `draftgate check`")
        except (DraftgateError, ValueError, OSError):
            self._count("not kept")
        finally:
            with self._lock:
                self._waiting -= 1
                self._bytes -= copy.size

    def _key(self, path: str, copy: Copy) -> CaptureKey:
        return CaptureKey(self._run, path, MAIN, copy.session, copy.turn)

    def _keep(self, captures: tuple[Capture, Capture]) -> None:
        """Both or none. Raises ValueError for what is no record, OSError where there is no room."""
        lines = [encode_record(capture) for capture in captures]
        for line in lines:
            decode_record(line)
        journals = [self._journal(capture.key.path) for capture in captures]
        frames = [journal.frame(line) for journal, line in zip(journals, lines, strict=True)]
        if not self._budget.take(sum(map(len, frames))):
            raise OSError("the budget is used up")
        for journal, frame in zip(journals, frames, strict=True):
            journal.append_frame(frame)

    def _journal(self, path: str) -> JournalWriter:
        if path not in self._journals:
            self._folder.parent.stat()  # a folder that has gone is not made again
            self._journals[path] = JournalWriter(journal_path(self._folder, path, MAIN))
        return self._journals[path]

    def _count(self, what: str, number: int = 1) -> None:
        if number:
            with self._lock:
                self._counts[what] += number


def _upstream(key: CaptureKey, copy: Copy) -> Capture:
    """The answer that the client got, as a capture."""
    exchanged = copy.exchanged
    return Capture(
        key=key,
        request=copy.request,
        status=200,
        sent_at=exchanged.sent_at,
        events=tuple((round(at, 3), read) for at, read in exchanged.reads),
        ended="done" if is_ended("chat", exchanged.answer) else "closed",
        headers={"content-type": exchanged.answer_type},
    )
