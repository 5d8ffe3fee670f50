"""What the store holds of earlier runs: the outcome of one that has ended, and the profile to
compare with.

A run that was killed after it was stored, and before its report was written, gets its report by
being resumed: its outcome is read, and nothing is sent or judged again.
"""

import json
from pathlib import Path

from checks.acceptance.profile_row import ProfileRow
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
    )


def report_file(config: Config, folder: RunFolder) -> Path:
    """Where the HTML report of a run goes."""
    return Path(config.run.report) if config.run.report else folder.report


def verdict_of(summary: Summary) -> Verdict:
    """The verdict as it was stored."""
    run, bounds = summary.run, [_bound(row) for row in summary["bounds"]]
    needed = [f"{b.name}: {b.needed}" for b in bounds if b.state == "inconclusive" and b.needed]
    return Verdict(
        verdict=run["verdict"],
        reasons=tuple(run["reasons"]),
        bounds=tuple(bounds),
        controls=tuple(_control(row) for row in summary["controls"]),
        power=(run["power"],) if run["power"] else (),
        needed=tuple(needed),
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
    name, db = config.reference.run, Path(config.run.db)
    if not name or (name == LAST and not db.exists()):
        return []
    with Store.open(db) as store:
        run = _last_passed(store) if name == LAST else store.resolve(name)
        rows = store.rows(
            "from v_profile where run = ? and path = 'candidate' and arm = 'main'", [run]
        )
    return [ProfileRow.from_mapping(row) for row in rows]


def _last_passed(store: Store) -> str | None:
    found = store.rows(
        "select run from runs where verdict = 'pass' order by started_at desc, run desc limit 1"
    )
    return str(found[0]["run"]) if found else None
