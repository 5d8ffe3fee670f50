"""What changed between two stored runs, and from every run to the next: computed here, stored.

The rows of `regressions` are written while a run is loaded: its own, and those of the run that
follows it in time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from checks.stats.two_runs import Difference, Measured, differences

QUANTITIES = "from v_quantities where run = ?"

NEIGHBOURS = """
with ordered as (
  select r.run, lag(r.run) over (
    partition by p.model, p.method order by r.started_at, r.run) as previous_run
  from runs r left join paths p on p.run = r.run and p.path = 'candidate'
)
select run, previous_run from ordered where $run in (run, previous_run)
"""
"""The run and the newest earlier one of its model and method; and the run it is that for."""

Row = Mapping[str, Any]


def compare_quantities(old: Sequence[Row], new: Sequence[Row]) -> list[dict[str, Any]]:
    """The quantities (rows of v_quantities) that both runs have; those that got worse first.

    Each has `name`, `dimension`, `slice`, `old`, `new`, `difference`, `low`, `high`, `unit` and
    `change`.
    """
    before = {_key(row): row for row in old}
    shared = [(before[_key(row)], row) for row in new if _key(row) in before]
    found = differences([(_measured(was), _measured(now)) for was, now in shared])
    rows = [
        {
            "name": now["name"],
            "dimension": now["dimension"],
            "slice": now["slice"],
            "old": was["value"],
            "new": now["value"],
            "difference": one.value,
            "low": one.low,
            "high": one.high,
            "unit": now["unit"],
            "change": one.change,
        }
        for (was, now), one in zip(shared, found, strict=True)
    ]
    order = {id(row): _urgency(row, one) for row, one in zip(rows, found, strict=True)}
    return sorted(rows, key=lambda row: order[id(row)])


def write_regressions(connection: duckdb.DuckDBPyConnection, run: str) -> None:
    """Write what changed with a run just inserted; the transaction is the caller's."""
    for here, previous in connection.execute(NEIGHBOURS, {"run": run}).fetchall():
        connection.execute("delete from regressions where run = ?", [here])
        if previous is None:
            continue
        old, new = (
            connection.sql(QUANTITIES, params=[r]).to_arrow_table() for r in (previous, here)
        )
        rows = [
            (
                here,
                previous,
                *(row[name] for name in ("name", "dimension", "slice", "old", "new")),
                *(row[name] for name in ("difference", "low", "high", "unit", "change")),
            )
            for row in compare_quantities(old.to_pylist(), new.to_pylist())
        ]
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"insert into regressions values ({marks})", rows)


def _key(row: Row) -> tuple[str, str, str]:
    return row["name"], row["dimension"], row["slice"]


def _measured(row: Row) -> Measured:
    return Measured(row["value"], row["low"], row["high"], row["better"])


def _urgency(row: Row, one: Difference) -> tuple[bool, float, str, str, str]:
    """What got worse first, then by how many of its intervals a number moved."""
    moved = 0.0
    if one.low is not None and one.high is not None and one.high > one.low:
        moved = abs(one.value) / (one.high - one.low)
    return one.change != "worse", -moved, *_key(row)
