"""A process that owns a server's process group and ends it when its own parent goes away.

    python warden.py COMMAND…          (standard input: a pipe whose other end the parent keeps)

However the parent ends (return, exception, Ctrl-C, ``kill -9``), the system closes its end of the
pipe; the warden sees end-of-file, sends SIGTERM to the group, and SIGKILL after a grace period. It
does the same where the warden itself gets SIGTERM or SIGHUP.
Only the standard library is used: the file is run by its path, under any Python.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

GRACE_S = 10.0
POLL_S = 0.2


def main(command: list[str]) -> int:
    """Run `command` in a group of its own; its exit code, or 128 + signal."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        while child.poll() is None:
            readable, _, _ = select.select([sys.stdin], [], [], POLL_S)
            if readable and not os.read(sys.stdin.fileno(), 1):
                break
    finally:
        _end(child)
    code = child.wait()
    return code if code >= 0 else 128 - code


def _end(child: "subprocess.Popen[bytes]") -> None:
    """SIGTERM, then SIGKILL for what is left of the group."""
    _signal(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    _signal(child.pid, signal.SIGKILL)


def _stop(number: int, _: object) -> None:
    for again in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(again, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    # The terminal's Ctrl-C is the parent's business: it closes the pipe when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(main(sys.argv[1:]))
