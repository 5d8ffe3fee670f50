"""draftgate: may this drafter be enabled for this traffic?

The functions here are the verbs of the command line (`draftgate.api`); `draftgate.testing` holds
assertions for test suites. What the functions give back is imported when it is first asked for:
importing this package needs nothing but the standard library, and no other package of draftgate's.
"""

import importlib
from typing import TYPE_CHECKING, Any

from draftgate.api import check, compare, gate, judge, open_store, read_sessions, record, replay
from draftgate.version import VERSION as __version__

if TYPE_CHECKING:
    from draftgate.case_check import CaseCheck
    from draftgate.config.config import Config
    from draftgate.run.outcome import GateOutcome
    from draftgate.run.single import Replayed
    from replay.recording.tally import Tally
    from reports.sql.compare import Comparison
    from reports.store.store import Store
    from traces.errors import DraftgateError
    from traces.session.session import Session

__all__ = [
    "CaseCheck",
    "Comparison",
    "Config",
    "DraftgateError",
    "GateOutcome",
    "Replayed",
    "Session",
    "Store",
    "Tally",
    "__version__",
    "check",
    "compare",
    "gate",
    "judge",
    "open_store",
    "read_sessions",
    "record",
    "replay",
]

_HOME = {
    "CaseCheck": "draftgate.case_check",
    "Comparison": "reports.sql.compare",
    "Config": "draftgate.config.config",
    "DraftgateError": "traces.errors",
    "GateOutcome": "draftgate.run.outcome",
    "Replayed": "draftgate.run.single",
    "Session": "traces.session.session",
    "Store": "reports.store.store",
    "Tally": "replay.recording.tally",
}
"""Module of each class that is imported on first use."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
