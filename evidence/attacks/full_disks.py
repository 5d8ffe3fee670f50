"""A file system that is full: a small one in memory, which only one process and its children see.

It needs the right to mount, which root has, and anybody where the kernel lets users make namespaces
of their own. Where neither holds, `small_disks_can_be_had` is false, and a limit on the size of
files (`RLIMIT_FSIZE`) must do: what it refuses reads otherwise ("File too large").
"""

import ctypes
import os
import pickle
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
RECURSIVE, PRIVATE, REMOUNT = 0x4000, 1 << 18, 0x20
"""Of `sched.h` and `sys/mount.h`, Linux."""

T = TypeVar("T")


def apart(work: Callable[[], T]) -> T:
    """What `work` gives in a forked process with mounts of its own. Raises OSError where such
    cannot be had, and RuntimeError where the process ended without an answer."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            try:
                _leave()
                given: object = work()
            except OSError as error:
                given = error
            pickle.dump(given, answer)
            answer.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"a process with mounts of its own ended with {status}")
        answer.seek(0)
        found: T = pickle.load(answer)
    if isinstance(found, OSError):
        raise found
    return found


def mount(place: Path, size_kib: int) -> None:
    """A file system of so many KiB at `place`, or the one there made as large. Raises OSError."""
    again = REMOUNT if os.path.ismount(place) else 0
    options = f"size={size_kib}k,mode=700".encode()
    _must(_libc().mount(b"tmpfs", os.fsencode(place), b"tmpfs", again, options))


@cache
def small_disks_can_be_had() -> bool:
    """Whether this machine lets this user have small file systems."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            apart(lambda: mount(Path(folder), 64))
    except (OSError, AttributeError):
        return False
    return True


def _leave() -> None:
    """Leave the mounts of all others, as another user where this one may not."""
    user, group = os.getuid(), os.getgid()
    _must(_libc().unshare(NEW_MOUNTS | (NEW_USER if user else 0)))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    _must(_libc().mount(None, b"/", None, RECURSIVE | PRIVATE, None))


def _must(answer: int) -> None:
    if answer:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
