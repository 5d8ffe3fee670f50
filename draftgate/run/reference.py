"""The acceptance profile of a stored run that this run is compared with."""

from pathlib import Path

from checks.acceptance.profile_row import ProfileRow
from draftgate.config.config import Config
from reports.store.store import Store
from traces.errors import StoreError

LAST = "last"
"""Stands for the newest run that passed."""


def reference_rows(config: Config) -> list[ProfileRow]:
    """The rows of the run that `[reference]` names; empty where it names none.

    Raises StoreError where the store holds no such run.
    """
    name = config.reference.run
    if not name:
        return []
    with Store.open(Path(config.run.db)) as store:
        run = _last_passed(store) if name == LAST else store.resolve(name)
        rows = store.rows(
            "from v_profile where run = ? and path = 'candidate' and arm = 'main'", [run]
        )
    return [ProfileRow.from_mapping(row) for row in rows]


def _last_passed(store: Store) -> str:
    found = store.rows(
        "select run from runs where verdict = 'pass' order by started_at desc, run desc limit 1"
    )
    if not found:
        raise StoreError(
            f"{store.path}: no run has passed yet, so there is no reference",
            "take `reference.run` out for the first run",
        )
    return str(found[0]["run"])
