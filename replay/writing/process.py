"""The writer process: reads exchanges from its socket, confirms each once it is on file.

    python -m replay.writing.process FD SETTINGS      (started by the handover)

It ends at the end of the stream. Where the recorder is killed, the exchanges that the socket still
holds are written first. Signals of the terminal do not reach it: it leads a session of its own.
"""

import os
import secrets
import signal
import socket
import sys
from datetime import UTC, datetime

import msgspec

from replay.writing.exchanged import read_exchanged
from replay.writing.writer import Writer, WriterSettings

READ_BYTES = 1 << 20

NICE = 10
"""Passing traffic on, and the servers of this machine, come first."""


def main(fd: int, settings: str) -> int:
    """Write until the stream ends; 2 where the folder is not there."""
    os.umask(0o077)
    os.nice(NICE)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    try:
        writer = Writer(msgspec.json.decode(settings, type=WriterSettings), _prefix())
    except OSError:
        return 2
    with socket.socket(fileno=fd) as connection:
        stream = connection.makefile("rb", READ_BYTES)
        confirmed = True
        while (exchanged := read_exchanged(stream)) is not None:
            said = writer.record(exchanged)
            if confirmed:
                confirmed = _confirm(connection, msgspec.json.encode(said) + b"\n")
        last = msgspec.json.encode(writer.close()) + b"\n"
        if confirmed:
            _confirm(connection, last)
    return 0


def _confirm(connection: socket.socket, line: bytes) -> bool:
    """Say it; False where nobody listens any more, and the rest is written all the same."""
    try:
        connection.sendall(line)
    except OSError:
        return False
    return True


def _prefix() -> str:
    """``20261130T212201-7f3a``: another one for every writer."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))
