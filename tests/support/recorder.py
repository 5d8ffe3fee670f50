"""``draftgate record`` as a process of its own, and its writer in this one."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.writing.exchanged import Exchanged
from replay.writing.writer import Writer, WriterSettings
from traces.importing.importer import import_files
from traces.journal.frames import FrameReader
from traces.session.session import Session

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Recorder:
    """A running recorder: `url` is what clients use, `said` its lines of standard error."""

    process: "asyncio.subprocess.Process"
    output: Path
    url: str
    said: list[str] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)

    @property
    def writer_pid(self) -> int:
        """The writer process: the only child."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return int(children.split()[0])

    async def read_errors(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.said.append(line.decode().rstrip())

    async def end(self, number: int = signal.SIGTERM) -> dict[str, Any]:
        """End it as a person does; the counts it prints."""
        self.process.send_signal(number)
        assert self.process.stdout is not None
        shown = await self.process.stdout.read()
        assert await self.process.wait() == 0, self.said
        self.counts = json.loads(shown)
        return self.counts

    async def until(self, part: str) -> None:
        """Wait for a line of standard error that holds `part`."""
        while not any(part in line for line in self.said):
            await asyncio.sleep(0.02)

    async def recorded(self, turns: int) -> None:
        """Wait until so many turns are on file."""
        while rows_in(self.output) < turns:
            await asyncio.sleep(0.02)


@asynccontextmanager
async def recording(upstream: str, output: Path, *options: str) -> AsyncIterator[Recorder]:
    """A recorder that is killed at the end, if it is still there."""
    command = [sys.executable, "-m", "draftgate", "record", "--upstream", upstream, "--json"]
    process = await asyncio.create_subprocess_exec(
        *(*command, "--listen", "127.0.0.1:0", "-o", str(output), *options),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    first = (await process.stderr.readline()).decode()
    recorder = Recorder(process, output, first.split()[0])
    reading = asyncio.create_task(recorder.read_errors())
    try:
        yield recorder
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await asyncio.wait_for(reading, 30)  # to the end: the writer has the same standard error


def sessions_in(folder: Path) -> list[Session]:
    """The recorded sessions, as every verb reads them; nothing in the files may be odd."""
    found = []
    for file in import_files([folder]):
        found += list(file.sessions)
        assert file.format == "request-log"
        assert (file.skipped, file.warnings) == ({}, [])
    return found


def rows_in(folder: Path) -> int:
    """Rows on file, whether or not they are whole sessions yet."""
    return sum(1 for file in folder.glob("*.zst") for _ in FrameReader(file))


def writer(folder: Path, prefix: str = "p", **changed: Any) -> Writer:
    """A writer in this process."""
    values = {"rate": 1.0, "seed": 0, "rotate": 1 << 28, "max_bytes": 1 << 30} | changed
    folder.mkdir(exist_ok=True)
    return Writer(WriterSettings(folder=str(folder), **values), prefix)


def chat(number: int, messages: list[dict[str, Any]], answer: str, **more: Any) -> Exchanged:
    """An exchange of chat completions, answered as a whole."""
    message = {"role": "assistant", "content": answer}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], **more}
    return Exchanged(
        number=number,
        route="/v1/chat/completions",
        sent_at=1.0,
        ended_ms=2.0,
        answer_type="application/json",
        encodings=("", ""),
        request=json.dumps({"model": "m", "messages": messages}).encode(),
        reads=[(1.0, json.dumps(body).encode())],
    )


def said(*texts: str) -> list[dict[str, Any]]:
    """A conversation: user and assistant in turns."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
