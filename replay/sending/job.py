"""One recorded turn, ready to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from traces.wire.route import Route


@dataclass(frozen=True, slots=True)
class Job:
    """`request` is complete (`replay.sending.request`); jobs of one session share their history.

    `route` is where the request goes; of a turn that is still to be planned, where its agent would
    send it.
    """

    session: str
    turn: str
    request: dict[str, Any]
    route: Route = "chat"


SessionJobs = Sequence[Job]
"""The turns of one session, in their recorded order."""
