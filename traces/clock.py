"""Seconds since the epoch that only grow, although this machine's clock may be set during a run.

    sent_at = seconds()    # 1764429485.1

Which turns were in flight together, and whether a server's counters fell between two readings, is
seen from these times: with a clock that is set back an hour, turns that ran side by side seem far
apart, and a server seems to have restarted.
"""

import time
from datetime import UTC, datetime

_BEGAN = time.time() - time.monotonic()
"""The machine's clock as this program began, less its own steady clock then."""


def seconds() -> float:
    """Seconds since the epoch: what the machine's clock said as the program began, plus the time
    that has passed since."""
    return _BEGAN + time.monotonic()


def utc() -> datetime:
    """The same as a date and time, in UTC."""
    return datetime.fromtimestamp(seconds(), UTC)
