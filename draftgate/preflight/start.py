"""Everything a gate must know before its first turn, in the order of what it costs to find out.

    paths as configured -> sessions -> output, store -> reference -> attached servers

Nothing is launched, and no folder is made, for a run that cannot be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checks.acceptance.profile_row import ProfileRow
from checks.servers.drafting_state import idle_notes
from checks.servers.unseen import unseen
from draftgate.config.config import Config
from draftgate.preflight.paths import check_paths
from draftgate.preflight.places import check_output
from draftgate.preflight.servers import ask_attached
from draftgate.run.plan import Plan, make_plan
from draftgate.run.stored import NO_REFERENCE, pinned_rows, reference_rows
from draftgate.run.target import Servers
from reports.store.store import Store


@dataclass(frozen=True, slots=True)
class Start:
    """What a run begins with: its turns, the profile to compare with and the one that losses are
    compared with, what the attached servers say of themselves, and what a reader should know before
    it begins."""

    plan: Plan
    reference: Sequence[ProfileRow]
    pinned: Sequence[ProfileRow]
    servers: Servers
    notes: tuple[str, ...] = ()


def prepare(config: Config) -> Start:
    """Look at everything. Raises a DraftgateError, before anything is sent, for what would end the
    run later.
    """
    check_paths(config)
    plan = make_plan(config)
    check_output(config)
    Store.open(Path(config.run.db), write=True).close()
    reference = reference_rows(config)
    notes = (NO_REFERENCE,) if config.reference.run and not reference else ()
    return Start(plan, reference, pinned_rows(config), ask_attached(config), notes)


def start_notes(config: Config, start: Start) -> list[str]:
    """What is known to be left unjudged, or may turn out so, before a turn is sent."""
    servers = start.servers
    lines = [line for path in servers.values() for facts in path for line in unseen(facts)]
    return [*start.notes, *idle_notes(servers, config.run.kind), *lines]
