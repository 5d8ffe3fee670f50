"""What the store holds of earlier runs: the outcome of one that has ended, and the profile to
compare with.

A run that was killed after it was stored, and before its report was written, gets its report by
being resumed: its outcome is read, and nothing is sent or judged again.
"""

import json
from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Literal

from checks.acceptance.profile_row import ProfileRow, SessionCounts
from checks.bounds import Bound, ControlResult
from checks.verdict import Verdict
from draftgate.config.config import Config
from draftgate.run.folder import RunFolder
from draftgate.run.outcome import GateOutcome
from reports.formats.html import render_html
from reports.store.store import Store, holds_run
from reports.store.summary import Row, Summary, read_summary
from traces.output import write_whole


def stored_outcome(config: Config, folder: RunFolder) -> GateOutcome | None:
    """The outcome of the run in `folder`, its report written again; None where it has not ended."""
    db = Path(config.run.db)
    if not holds_run(db, folder.run):
        return None
    with Store.open(db) as store:
        summary = read_summary(store, folder.run)
        report = report_file(config, folder)
        write_whole(report, render_html(store, summary, folder=report.parent))
    return GateOutcome(
        run=folder.run,
        verdict=verdict_of(summary),
        codes=summary.codes,
        counts=json.loads(summary.run["counts"]),
        store=db,
        report=report,
        folder=folder.root,
        notes=tuple(summary.run["notes"] or ()),
        faithful=tuple(_bound(row) for row in summary["faithful"]),
    )


def report_file(config: Config, folder: RunFolder) -> Path:
    """Where the HTML report of a run goes."""
    return Path(config.run.report) if config.run.report else folder.report


def verdict_of(summary: Summary) -> Verdict:
    """The verdict as it was stored."""
    run, bounds = summary.run, [_bound(row) for row in summary["bounds"]]
    needed = [f"{b.name}: {b.needed}" for b in bounds if b.state == "inconclusive" and b.needed]
    # One column holds both: what the run could have seen, then what it needs.
    power = (run["power"] or "").removesuffix("; ".join(needed)).removesuffix("; ")
    return Verdict(
        verdict=run["verdict"],
        reasons=tuple(run["reasons"]),
        bounds=tuple(bounds),
        controls=tuple(_control(row) for row in summary["controls"]),
        power=(power,) if power else (),
        needed=tuple(needed),
        scope=run["scope"] or "",
    )


def _bound(row: Row) -> Bound:
    return Bound(**{name: row[name] for name in Bound.__slots__})


def _control(row: Row) -> ControlResult:
    values = {name: row[name] for name in ControlResult.__slots__}
    return ControlResult(**values | {"fired": tuple(row["fired"])})


LAST = "last"
"""Stands for the newest run that passed."""


NO_REFERENCE = (
    'no run has passed yet, so acceptance is compared with no reference (reference.run = "last")'
)


def reference_rows(config: Config) -> list[ProfileRow]:
    """The rows of the run that `[reference]` names; empty where it names none, and where the last
    one that passed is wanted before any has.

    Raises StoreError where the store holds no such run.
    """
    return _rows_of(config, config.reference.run, "desc")


def pinned_rows(config: Config) -> list[ProfileRow]:
    """The rows of the run that losses are compared with: one that does not move from run to run.

    Empty and raises as `reference_rows`.
    """
    return _rows_of(config, config.reference.pinned or config.reference.run, "asc")


def _rows_of(config: Config, name: str, order: Literal["asc", "desc"]) -> list[ProfileRow]:
    db = Path(config.run.db)
    if not name or (name == LAST and not db.exists()):
        return []
    with Store.open(db) as store:
        run = _passed(store, order) if name == LAST else store.resolve(name)
        return [] if run is None else profile_of(store, run)


COUNTS = """
select s.label::varchar as boundary, p.context_band::varchar as band, s.session, s.drafted,
  s.accepted, count(*) as steps
from steps s
join draft_positions p on p.run = s.run and p.path = s.path and p.arm = s.arm
  and p.session = s.session and p.turn = s.turn and p.attempt = s.attempt and p.step = s.step
  and p.position = 0
where s.run = ? and s.path = 'candidate' and s.arm = 'main'
  and s.label is not null and p.context_band is not null
group by all order by all
"""
"""As the view `v_profile`, by session."""


def profile_of(store: Store, run: str) -> list[ProfileRow]:
    """The candidate's profile rows of a stored run, with the counts of every session."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in store.rows(COUNTS, [run]):
        for boundary in ("all", row["boundary"]):
            rows.setdefault((boundary, row["band"]), []).append(row)
    return [_profile_row(*name, counted) for name, counted in rows.items()]


def _profile_row(boundary: str, band: str, counted: Sequence[Row]) -> ProfileRow:
    depth = max(row["drafted"] for row in counted)
    sessions: dict[str, SessionCounts] = {}
    for row in counted:
        accepted = tuple(row["steps"] * (row["accepted"] > i) for i in range(depth))
        reached = tuple(
            row["steps"] * (row["accepted"] >= i and row["drafted"] > i) for i in range(depth)
        )
        one = SessionCounts(row["steps"], accepted, reached)
        known = sessions.get(row["session"])
        sessions[row["session"]] = one if known is None else known + one
    total = reduce(add, sessions.values())
    return ProfileRow(
        boundary,
        band,
        total.drafts,
        sum(row["drafted"] * row["steps"] for row in counted),
        total.accepted,
        sum(total.accepted),
        total.reached,
        sessions=tuple(sessions.items()),
    )


def _passed(store: Store, order: Literal["asc", "desc"]) -> str | None:
    """The first or the last run that passed."""
    found = store.rows(
        f"select run from runs where verdict = 'pass' order by started_at {order}, run {order} "
        "limit 1"
    )
    return str(found[0]["run"]) if found else None
