"""Something made once for all processes of one test run (pytest-xdist has several)."""

import fcntl
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from traces.errors import DraftgateError

T = TypeVar("T")


def once(folder: Path, name: str, make: Callable[[], T]) -> T:
    """What `make` gives in the first process that asks; the others wait for it and read it.

    `folder` is shared by the processes of one test run, and by nobody else. A failure is an answer
    too: what failed once is not tried again for every other test.
    """
    folder.mkdir(parents=True, exist_ok=True)
    answer = folder / f"{name}.pickle"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            made: T | DraftgateError
            try:
                made = make()
            except DraftgateError as error:
                made = error
            except Exception as error:
                where = "the first test that asked for it shows where"
                failure = DraftgateError(f"{type(error).__name__}: {error}", where)
                answer.write_bytes(pickle.dumps(failure))
                raise
            answer.write_bytes(pickle.dumps(made))
        kept: T | DraftgateError = pickle.loads(answer.read_bytes())
    if isinstance(kept, DraftgateError):
        raise kept
    return kept
