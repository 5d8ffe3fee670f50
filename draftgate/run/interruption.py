"""Ctrl-C during a run: servers are ended, journals closed, and the way to go on is said."""

from collections.abc import Iterator
from contextlib import contextmanager

from draftgate.run.folder import RunFolder
from traces.errors import Interrupted, OutputError
from traces.journal.frames import FrameReader


@contextmanager
def resumable(folder: RunFolder) -> Iterator[None]:
    """Turn a KeyboardInterrupt into an `Interrupted` that says what is kept of the run; say of a
    full disk how to go on.

    It is the outermost context of a run, so that launched servers have been ended before.
    """
    try:
        yield
    except KeyboardInterrupt:
        kept = sum(1 for journal in folder.journals() for _ in FrameReader(journal))
        raise Interrupted(
            f"{kept} answers are kept in {folder.root}",
            f"the same command with --resume {folder.run} goes on, and sends none of them again",
        ) from None
    except OutputError as error:
        resume = f"the same command with --resume {folder.run} goes on"
        raise OutputError(str(error), f"{error.fix}; then {resume}") from None
