"""What draftgate's own errors are to a test: a skip, or a failure without a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from draftgate.pytest_plugin.source import Unavailable
from traces.errors import DraftgateError, Interrupted


@contextmanager
def failed_or_skipped() -> Iterator[None]:
    """Skip for what cannot be had here; fail with message and fix for what a user can fix; end
    the test run where the user ended the gate."""
    __tracebackhide__ = True
    try:
        yield
    except Unavailable as reason:
        pytest.skip(str(reason))
    except DraftgateError as error:
        pytest.fail(message_of(error), pytrace=False)
    except Interrupted as stop:
        pytest.exit(message_of(stop), pytest.ExitCode.INTERRUPTED)


def message_of(error: DraftgateError | Interrupted) -> str:
    """An error as the command line would say it."""
    return f"{error}\nfix: {error.fix}" if error.fix else str(error)
