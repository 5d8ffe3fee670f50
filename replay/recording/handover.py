"""Hands finished exchanges to the writer process, and never makes anybody wait for it.

An exchange stays in memory until the writer confirms it. Where the writer ends (a crash, ``kill
-9``, no memory), a new one is started and gets what was not confirmed again; an exchange under
which a writer ended twice is given up.
"""

import asyncio
import contextlib
import os
import socket
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from replay.recording.tally import LOST, Tally
from replay.recording.tape import Held
from replay.writing.exchanged import Confirmed, Exchanged, encode_exchanged

MODULE = "replay.writing.process"
RESTART_S = 1.0
"""Before another writer is started, so that one that cannot start does not cost the machine."""

MOST_TRIES = 2


@dataclass(slots=True)
class _Waiting:
    number: int
    data: bytes
    tries: int = 0


class Handover:
    """The queue, and the writer process that empties it, while its `async with` lasts.

    `settings` is what the writer is started with, as JSON. `say` gets one line about the first loss
    of each kind.
    """

    def __init__(self, settings: str, tally: Tally, held: Held, say: Callable[[str], None]) -> None:
        self._settings, self._tally, self._held, self._say = settings, tally, held, say
        self._waiting: deque[_Waiting] = deque()
        self._sent = 0
        self._more = asyncio.Event()
        self._all_confirmed = asyncio.Event()
        self._all_confirmed.set()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._writer: asyncio.StreamWriter | None = None
        self.writer_pid: int | None = None

    async def __aenter__(self) -> "Handover":
        self._task = asyncio.create_task(self._serve())
        return self

    async def __aexit__(self, *error: object) -> None:
        self._closing = True
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for waiting in self._waiting:
            self._lose(waiting, "not_written")
        self._waiting.clear()

    def put(self, exchanged: Exchanged, size: int) -> None:
        """Take an exchange, whose `size` bytes are counted as held until it is confirmed."""
        data = encode_exchanged(exchanged)
        self._held.bytes += len(data) - size
        self._waiting.append(_Waiting(exchanged.number, data))
        self._all_confirmed.clear()
        self._more.set()

    async def flushed(self, seconds: float) -> bool:
        """Wait until all is confirmed; False where nothing was confirmed for so long."""
        while not self._all_confirmed.is_set():
            before = len(self._waiting)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_confirmed.wait(), seconds)
            if len(self._waiting) == before:
                return not before
        return True

    async def finished(self) -> bool:
        """Let the writer end, once it has closed its files and has the answers that are still to
        come from the shadow; True then."""
        self._closing = True
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write_eof()
        if self._task is not None:
            await asyncio.wait((self._task,))
        return True

    async def _serve(self) -> None:
        while not self._closing:
            with contextlib.suppress(OSError):  # no process or socket to be had: try again
                await self._one_writer()
            if self._closing:
                return
            if self._sent and self._waiting:
                first = self._waiting[0]
                first.tries += 1
                if first.tries >= MOST_TRIES:
                    self._lose(self._waiting.popleft(), "writer_lost")
            self._settle()
            await asyncio.sleep(RESTART_S)

    async def _one_writer(self) -> None:
        """Start a writer and feed it until it ends. Raises OSError where none can be started."""
        self._sent = 0
        near, far = socket.socketpair()
        command = (sys.executable, "-P", "-m", MODULE, str(far.fileno()), self._settings)
        found = os.pathsep.join(folder for folder in sys.path if folder)
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            pass_fds=(far.fileno(),),
            env={**os.environ, "PYTHONPATH": found},
            start_new_session=True,
        )
        far.close()
        self.writer_pid = process.pid
        reader, writer = await asyncio.open_connection(sock=near)
        self._writer = writer
        feeding = asyncio.create_task(self._feed(writer))
        try:
            while line := await reader.readline():
                self._confirm(msgspec.json.decode(line, type=Confirmed))
            await process.wait()
        except (ConnectionError, msgspec.MsgspecError):
            pass
        finally:
            feeding.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await feeding
            writer.close()

    async def _feed(self, writer: asyncio.StreamWriter) -> None:
        """Send what waits, in order; one exchange at a time is in the socket's buffer."""
        while True:
            while self._sent < len(self._waiting):
                data = self._waiting[self._sent].data
                self._sent += 1
                writer.write(data)
                await writer.drain()
            self._more.clear()
            await self._more.wait()

    def _confirm(self, said: Confirmed) -> None:
        self._tally.shadow.update(said.shadow)
        if not self._waiting or self._waiting[0].number != said.number:
            return
        first = self._waiting.popleft()
        self._sent -= 1
        self._tally.bytes += said.bytes
        self._tally.sessions += said.sessions
        if said.reason is None:
            self._tally.recorded += 1
            self._held.bytes -= len(first.data)
        else:
            self._lose(first, said.reason, said.detail)
        self._settle()

    def _lose(self, waiting: _Waiting, reason: str, detail: str = "") -> None:
        self._held.bytes -= len(waiting.data)
        not_recorded(self._tally, reason, self._say, detail)

    def _settle(self) -> None:
        if not self._waiting:
            self._all_confirmed.set()


def not_recorded(tally: Tally, reason: str, say: Callable[[str], None], detail: str = "") -> None:
    """Count a turn that is not recorded; the first loss of a kind is said."""
    tally.reasons[reason] += 1
    if reason in LOST and tally.reasons[reason] == 1:
        more = f" ({detail})" if detail else ""
        say(f"warning: a turn is not recorded: {reason}{more}; traffic is passed on as before")
