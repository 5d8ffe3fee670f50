"""Runs a recorder from its first to its last request."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from replay.recording.forwarder import Forwarder, drained
from replay.recording.handover import Handover, not_recorded
from replay.recording.tally import Tally
from replay.recording.tape import Held, Tape
from replay.sending.url import server_root
from replay.writing.writer import WriterSettings
from traces.counted import counted
from traces.errors import ConfigError, OutputError
from traces.output import writing

DRAIN_S = 30.0
"""So long requests that are in flight at Ctrl-C may go on; a second Ctrl-C ends them at once."""

FLUSH_S = 30.0
"""So long the writer may confirm nothing at the end, before the rest is given up."""

SMALLEST_BUDGET = 1 << 20


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """`listen` is ``HOST:PORT`` (port 0: any free one); `rate` is the share of conversations that
    is recorded, drawn by `seed`. Sizes are in bytes. `shadow` is the URL of a second server, which
    gets copies."""

    upstream: str
    listen: str
    output: Path
    rate: float = 1.0
    seed: int = 0
    rotate: int = 256_000_000
    max_bytes: int = 10_000_000_000
    shadow: str | None = None


Say = Callable[[str], None]


class Recorder:
    """The forwarder, what it hands over, and the counts."""

    def __init__(self, settings: RecordSettings, say: Say) -> None:
        self.settings, self.say = settings, say
        self.tally = Tally()
        self.held = Held()
        self.forwarder = Forwarder(server_root(settings.upstream), self._begin, self._end)
        wanted = WriterSettings(
            folder=str(settings.output.resolve()),
            rate=settings.rate,
            seed=settings.seed,
            rotate=settings.rotate,
            max_bytes=settings.max_bytes,
            shadow=settings.shadow,
        )
        words = msgspec.json.encode(wanted).decode()
        self.handover = Handover(words, self.tally, self.held, say)

    def _begin(self, route: str) -> Tape:
        self.tally.turns += 1
        return Tape(self.tally.turns, route, self.held)

    def _end(self, tape: Tape, reason: str | None) -> None:
        cut = reason is not None
        if tape.status is not None:
            reason = "refused" if tape.status != 200 else tape.spoiled
        size = tape.size
        if reason is None:
            self.handover.put(tape.exchanged(cut=cut), size)
        else:
            self.held.bytes -= size
            not_recorded(self.tally, reason, self.say)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request of a client."""
        self.tally.requests += 1
        try:
            return await self.forwarder.handle(request)
        except Exception as error:
            self.say(f"warning: a request was answered by 500: {type(error).__name__}")
            raise


def record(settings: RecordSettings, say: Say, ready: Say) -> Tally:
    """Record until Ctrl-C (or SIGTERM, SIGHUP); what became of the requests.

    `say` gets lines for people: first losses, and the status on SIGUSR1. `ready` gets the URL once
    it is served. Raises ConfigError for a bad URL, address or size, OutputError where the folder
    or the address cannot be used.
    """
    check_settings(settings)
    with writing(settings.output):
        settings.output.mkdir(parents=True, exist_ok=True)
        if not os.access(settings.output, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    with _listening(settings.listen) as listener:
        _check_no_circle(settings.upstream, listener)
        return asyncio.run(_record(settings, listener, say, ready))


def check_settings(settings: RecordSettings) -> None:
    """Raises ConfigError."""
    root = server_root(settings.upstream)
    if settings.shadow is not None and server_root(settings.shadow) == root:
        raise ConfigError("--shadow is the upstream itself", "name another server")
    if not 0 < settings.rate <= 1:
        raise ConfigError(f"--rate {settings.rate} is no share", "write one above 0, up to 1")
    if settings.max_bytes < SMALLEST_BUDGET:
        raise ConfigError("--max-bytes is below 1MB", "write it like 10GB")
    if settings.rotate <= 0:
        raise ConfigError("--rotate is no size", "write it like 256MB")


async def _record(settings: RecordSettings, listener: socket.socket, say: Say, ready: Say) -> Tally:
    recorder = Recorder(settings, say)

    def status() -> None:
        for line in recorder.tally.lines():
            say(line)

    stop = signals(status)
    async with recorder.handover, recorder.forwarder:
        server = recorder.forwarder.server(recorder.handle)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        site = web.SockSite(runner, listener)
        await site.start()
        ready(_url(listener))
        await stop.wait()
        await site.stop()
        flying = recorder.forwarder.in_flight
        if flying:
            say(f"waiting for {counted(flying, 'request')}; Ctrl-C again ends them")
            await _either(drained(recorder.forwarder, DRAIN_S), stop)
        await runner.cleanup()
        await _either(recorder.handover.flushed(FLUSH_S), stop)
        await _either(recorder.handover.finished(), stop)
    return recorder.tally


async def _either(work: Coroutine[Any, Any, bool], stop: asyncio.Event) -> None:
    """Wait for `work`, or for another signal to end."""
    stop.clear()
    waiting = asyncio.create_task(stop.wait()), asyncio.create_task(work)
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()


def signals(status: Callable[[], None]) -> asyncio.Event:
    """An event that is set by a signal to end; SIGUSR1 calls `status`."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGUSR1, status)
    return stop


def _listening(address: str) -> socket.socket:
    """A listening socket. Raises ConfigError for no address, OutputError for one in use."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"{address!r} is no address to listen on", "write it like 127.0.0.1:8001")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise OutputError(
            f"{address}: cannot be listened on ({error.strerror or error})",
            "name another address with --listen; port 0 takes any free one",
        ) from None
    return listener


def _check_no_circle(upstream: str, listener: socket.socket) -> None:
    """Raises ConfigError where the upstream is the address that is listened on."""
    place, (host, port) = urlsplit(server_root(upstream)), listener.getsockname()[:2]
    here = {host, "127.0.0.1", "::1", "localhost", "0.0.0.0", "::"}
    if place.port == port and place.hostname in here:
        raise ConfigError("--upstream is the address of --listen", "name the server that answers")


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
