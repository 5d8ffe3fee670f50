"""A gate on a machine that misbehaves: signals, clocks, closed pipes, limits, full disks.

It must end with a verdict, or with an exit code and a message that says what to do; and the same
command with ``--resume`` must then give what a run that nobody disturbed gives.
"""

import contextlib
import json
import os
import random
import resource
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evidence.attacks.commands import (
    Before,
    Ended,
    command,
    ended,
    gate_words,
    prepared,
    started,
    whole_run,
)
from evidence.attacks.full_disks import apart, mount, small_disks_can_be_had
from evidence.attacks.served_pair import Servers
from evidence.attacks.snapshot import Undisturbed, differences

CANNOT_RUN, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
"""Exit codes of docs/commands.md."""

MIB = 1 << 20
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Disturbance:
    """`arrange` makes what is called in the gate's process before it begins; `number` is a signal
    that it gets at a random moment. `may_end` are exit codes beside that of its verdict."""

    may_end: frozenset[int]
    arrange: Callable[[random.Random, Undisturbed], Before]
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Disturbed:
    """How a disturbed run ended (`code` as `Ended.code`), and what is wrong with it."""

    code: int | None
    wrong: tuple[str, ...]


def disturbed_run(
    home: Path, pair: Servers, whole: Undisturbed, name: str, chance: random.Random
) -> Disturbed:
    """Disturb one gate below `home`, and let it go on undisturbed."""
    if name in DISKS and small_disks_can_be_had():
        return apart(partial(_on_a_small_disk, home, pair, whole, DISKS[name], chance))
    what = DISTURBANCES[FILE_SIZE if name in DISKS else name]
    prepared(home, pair)
    child = started(home, gate_words(home), what.arrange(chance, whole))
    if what.number is not None:
        time.sleep(chance.uniform(0.0, float(whole.said["seconds"])))
        os.kill(child, what.number)
    return _resumed(home, whole, ended(home, child), what.may_end)


def _on_a_small_disk(
    home: Path, pair: Servers, whole: Undisturbed, place: str, chance: random.Random
) -> Disturbed:
    prepared(home, pair, db=f"{STORE}/store.duckdb")
    for name in DISKS.values():
        (home / name).mkdir()
    mount(home / place, 4 * chance.randrange(1, 1 + _used_kib(whole, place) // 4))
    temporary = partial(_temporary_files_in, home / "tmp")
    found = command(home, gate_words(home), temporary)
    mount(home / place, 1 << 17)
    return _resumed(home, whole, found, frozenset({CANNOT_RUN}))


def _used_kib(whole: Undisturbed, place: str) -> int:
    """About what an undisturbed run takes there; of temporary files a guess."""
    files = {"out": whole.folder.rglob("*"), STORE: [_store(whole)]}.get(place, ())
    return sum(file.stat().st_size for file in files) >> 10 or 64


def _store(whole: Undisturbed) -> Path:
    return Path(whole.folder.parents[2] / whole.said["store"])


def _temporary_files_in(place: Path) -> None:
    os.environ["TMPDIR"] = str(place)
    tempfile.tempdir = None


def _resumed(home: Path, whole: Undisturbed, found: Ended, may_end: frozenset[int]) -> Disturbed:
    wrong = _flaws(found, whole, may_end)
    wrong += [f"left behind: {file.relative_to(home)}" for file in home.rglob(".*.part*")]
    again, last = whole_run(home)
    if again is None:
        wrong.append(f"cannot go on: {last.code}: {last.err[-300:]}")
    else:
        wrong += differences(again, whole)
    return Disturbed(found.code, tuple(wrong))


def _flaws(found: Ended, whole: Undisturbed, may_end: frozenset[int]) -> list[str]:
    """What must not be in the way a command ended."""
    wrong = []
    if found.code not in may_end | {whole.said["verdict"][0]}:
        wrong.append(f"ended with {found.code}: {found.err[-300:]}")
    if "Traceback" in found.err or "draftgate itself failed" in found.err:
        wrong.append(f"an accident: {found.err[-600:]}")
    if found.code == CANNOT_RUN and not ("\nfix: " in found.err and "error: " in found.err):
        wrong.append(f"no error with its fix: {found.err[-300:]}")
    if found.out:
        with contextlib.suppress(ValueError):
            json.loads(found.out)
            return wrong
        wrong.append(f"half an answer: {found.out[:200]}")
    return wrong


def _quiet(chance: random.Random, whole: Undisturbed) -> Before:
    return lambda: None


def _clock(direction: int, chance: random.Random, whole: Undisturbed) -> Before:
    """The machine's clock is set by hours at a random moment, as `time.time` shows it."""
    after = chance.uniform(0.0, float(whole.said["seconds"]))
    by_s = direction * HOUR_S * chance.uniform(1, 12)

    def arrange() -> None:
        real, start = time.time, time.monotonic()
        time.time = lambda: real() + (by_s if time.monotonic() - start > after else 0.0)

    return arrange


def _restless_clock(chance: random.Random, whole: Undisturbed) -> Before:
    """Every reading of the machine's clock is hours from the last one."""

    def arrange() -> None:
        real = time.time
        time.time = lambda: real() + HOUR_S * chance.uniform(-12, 12)

    return arrange


def _closed(fds: tuple[int, ...], chance: random.Random, whole: Undisturbed) -> Before:
    """Whoever read these outputs has gone."""

    def arrange() -> None:
        reading, writing = os.pipe()
        os.close(reading)
        for fd in fds:
            os.dup2(writing, fd)

    return arrange


def _limited(kind: int, of: Callable[[], int], chance: random.Random, _: Undisturbed) -> Before:
    def arrange() -> None:
        resource.setrlimit(kind, (of(), of()))

    return arrange


def _few_files(chance: random.Random, whole: Undisturbed) -> Before:
    more = chance.randrange(1, 24)
    return _limited(resource.RLIMIT_NOFILE, lambda: _open_files() + more, chance, whole)


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _little_memory(chance: random.Random, whole: Undisturbed) -> Before:
    """Address space for so much more than the process has as it begins."""
    more = chance.randrange(1, 300) * MIB
    limit = resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0]) + more
    return _limited(resource.RLIMIT_AS, lambda: limit, chance, whole)


def _small_files(chance: random.Random, whole: Undisturbed) -> Before:
    """No file may grow beyond a size between 1 KiB and that of the store."""
    largest = max(2, _store(whole).stat().st_size >> 10)
    limit = int(1024 * largest ** chance.random())
    return _limited(resource.RLIMIT_FSIZE, lambda: limit, chance, whole)


def _files(limit: int) -> Callable[[random.Random, Undisturbed], Before]:
    """So many file handles for the gate: those of the process it is forked from are closed."""

    def arranged(chance: random.Random, whole: Undisturbed) -> Before:
        def arrange() -> None:
            os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        return arrange

    return arranged


STORE = "kept"
"""Folder of the store on a disk of its own."""

DISKS = {
    "full disk: run folder": "out",
    "full disk: store": STORE,
    "full disk: TMPDIR": "tmp",
}
"""Disks that fill, each its own: the folder below a run's home."""

FILE_SIZE = "limit on the size of files"

NONE: frozenset[int] = frozenset()
REFUSED = frozenset({CANNOT_RUN})
ABORTED = frozenset({-signal.SIGABRT})
"""Arrow's C++ ends the process where it gets no memory in the middle of a hand-over; no Python code
runs then, as after ``kill -9``, and the run goes on all the same."""

DISTURBANCES = {
    "SIGTERM": Disturbance(frozenset({INTERRUPTED}), _quiet, signal.SIGTERM),
    "SIGINT": Disturbance(frozenset({INTERRUPTED}), _quiet, signal.SIGINT),
    "SIGHUP": Disturbance(frozenset({INTERRUPTED}), _quiet, signal.SIGHUP),
    "clock set forward": Disturbance(NONE, partial(_clock, 1)),
    "clock set back": Disturbance(NONE, partial(_clock, -1)),
    "clock that jumps": Disturbance(NONE, _restless_clock),
    "stdout closed": Disturbance(frozenset({PIPE_CLOSED}), partial(_closed, (1,))),
    "stdout and stderr closed": Disturbance(frozenset({PIPE_CLOSED}), partial(_closed, (1, 2))),
    "64 open files": Disturbance(NONE, _files(64)),
    "hardly an open file": Disturbance(REFUSED, _few_files),
    "little memory": Disturbance(REFUSED | ABORTED, _little_memory),
    FILE_SIZE: Disturbance(REFUSED, _small_files),
}

NAMES = (*DISTURBANCES, *DISKS)
