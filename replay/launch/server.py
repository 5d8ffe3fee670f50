"""A launched vLLM server: started, awaited, watched, and ended with its whole process group."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Self

from replay.launch import warden
from replay.launch.command import ServerSpec, server_command, server_environment
from replay.launch.diagnosis import likely_fix
from replay.launch.port import free_port, is_free
from traces.errors import ServerError
from traces.journal.vllm_flags import parse_flags
from traces.output import writing

PORT_TRIES = 3
HEALTH_EVERY_S = 0.25
SHOWN_LINES = 15
TAIL_BYTES = 1 << 14

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""A launched server is on this machine; no proxy must come between."""

Waiting = Callable[[float, str], None]
"""Called while a server starts: seconds waited, and the last line of its log."""


class Server:
    """One server; use it in a ``with`` block, or call `stop` in a ``finally``.

        with Server(spec, Path("run/candidate.log")) as server:   # started, not yet healthy
            server.wait_healthy()
            server.url                                            # "http://127.0.0.1:40123"

    The log is appended to, so that a resumed run keeps the earlier one. Raises ServerError, with
    the server's last lines, where it cannot start, dies, or is not healthy in time.
    """

    def __init__(self, spec: ServerSpec, log: Path) -> None:
        self.spec = spec
        self.log = log
        self.port = 0
        self.command: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def url(self) -> str:
        """The server's root."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process that owns the server's group, while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Spawn it; returns at once."""
        self._refuse_missing_model()
        wanted = parse_flags(self.spec.flags).get("--port", ())
        self.port = int(wanted[0]) if wanted else free_port()
        if wanted and not is_free(self.port):
            raise ServerError(
                f"path {self.spec.name}: port {self.port} is in use",
                "end the other server, or leave `--port` out of `flags`",
            )
        self.command = server_command(self.spec, self.port)
        with writing(self.log):
            self.log.parent.mkdir(parents=True, exist_ok=True)
            opened = self.log.open("ab")
        with opened as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-P", warden.__file__, *self.command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=server_environment(self.spec),
                start_new_session=True,
            )

    def wait_healthy(self, waiting: Waiting = lambda seconds, line: None) -> None:
        """Block until ``/health`` answers 200; a lost race for the port is run again."""
        tries = 1
        start = time.monotonic()
        while not self._is_healthy():
            if not self.is_alive() and self._lost_port() and tries < PORT_TRIES:
                tries += 1
                self.start()
            self.check_alive("while starting")
            waited = time.monotonic() - start
            waiting(waited, self.last_line())
            if waited > self.spec.start_timeout_s:
                self.stop()
                raise self._error(f"was not healthy after {waited:.0f} s", "raise start_timeout_s")
            time.sleep(HEALTH_EVERY_S)

    def is_alive(self) -> bool:
        return self.pid is not None

    def check_alive(self, when: str = "while in use") -> None:
        """Raise ServerError with the last lines of the log if the server has ended."""
        if self._process is None:
            raise ServerError(f"path {self.spec.name}: the server was not started")
        code = self._process.poll()
        if code is not None:
            raise self._error(f"ended {when} (exit code {code})", likely_fix(self._tail()))

    async def wait_for_end(self, seconds: float) -> None:
        """Give a dying server time to end by itself; returns early when it has."""
        deadline = time.monotonic() + seconds
        while self.is_alive() and time.monotonic() < deadline:
            await asyncio.sleep(HEALTH_EVERY_S)

    def stop(self) -> None:
        """End the whole process group and wait for it. May be called again."""
        if self._process is None:
            return
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(warden.GRACE_S + 5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def log_text(self) -> str:
        """The log of this start."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def non_default_args(self) -> str | None:
        """The server's own "non-default args" line, as it wrote it."""
        for line in self.log_text().splitlines():
            if "non-default args: " in line:
                return line.split("non-default args: ", 1)[1].strip()
        return None

    def last_line(self) -> str:
        lines = self._tail().splitlines()
        return lines[-1].strip() if lines else ""

    def _tail(self) -> str:
        with self.log.open("rb") as log:
            log.seek(max(self._log_start, self.log.stat().st_size - TAIL_BYTES))
            text = log.read().decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-SHOWN_LINES:])

    def _error(self, what: str, fix: str) -> ServerError:
        text = f"path {self.spec.name}: the vLLM server {what}; its log is {self.log}"
        return ServerError(f"{text}\n{self._tail()}", fix)

    def _is_healthy(self) -> bool:
        try:
            with DIRECT.open(f"{self.url}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _lost_port(self) -> bool:
        chosen = "--port" not in parse_flags(self.spec.flags)
        return chosen and "address already in use" in self.log_text().lower()

    def _refuse_missing_model(self) -> None:
        """A path without a model in it would otherwise be taken for a name on a hub."""
        model = self.spec.model
        folder = Path(model)
        looks_local = folder.is_absolute() or model.startswith((".", "~")) or folder.exists()
        if looks_local and not (folder / "config.json").is_file():
            raise ServerError(
                f"path {self.spec.name}: no model at {model} (there is no config.json)",
                "set `server.model` to a folder with a model, or to a name vLLM can load",
            )
