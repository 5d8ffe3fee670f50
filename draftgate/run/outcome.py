"""What a gate run concluded, for the command line, the API and ``--json``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from checks.bounds import Bound
from checks.verdict import Verdict


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The verdict of one run, and where its evidence lies.

    `codes` counts findings at severity error by code; `counts` holds how much was replayed,
    skipped and judged, by name. `store` and `report` are `None` where journals were judged offline.
    `notes` are for the reader: what was left out, what was odd. `faithful` holds the bounds of the
    turns alone whose prompt is exact or rebuilt, where the run replayed others too.
    """

    run: str
    verdict: Verdict
    codes: Mapping[str, int]
    counts: Mapping[str, int]
    store: Path | None
    report: Path | None
    folder: Path
    notes: tuple[str, ...] = ()
    faithful: tuple[Bound, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 2 invalid, 3 inconclusive."""
        return self.verdict.exit_code

    def as_json(self) -> dict[str, Any]:
        """The object ``draftgate gate --json`` prints."""
        return {
            "run": self.run,
            "verdict": self.verdict.verdict,
            "reasons": list(self.verdict.reasons),
            "codes": dict(self.codes),
            "store": None if self.store is None else str(self.store),
            "report": None if self.report is None else str(self.report),
            "counts": dict(self.counts),
            "bounds": [asdict(bound) for bound in self.verdict.bounds],
            "faithful": [asdict(bound) for bound in self.faithful],
            "controls": [asdict(control) for control in self.verdict.controls],
            "needed": list(self.verdict.needed),
            "scope": self.verdict.scope,
            "notes": list(self.notes),
        }

    def print_summary(self) -> None:
        """The summary a person reads, on stdout: from the store, or in plain lines without one."""
        from rich.console import Console

        from reports.formats.terminal import print_summary
        from reports.store.store import Store
        from reports.store.summary import read_summary

        console = Console()
        if self.store is not None:
            with Store.open(self.store) as store:
                print_summary(read_summary(store, self.run), console)
            console.print(f"report  {self.report}", markup=False, highlight=False)
            console.print(f"store   {self.store}", markup=False, highlight=False)
            return
        lines = [f"{self.verdict.verdict.upper()}  {self.run}", *self.verdict.reasons]
        lines += [
            f"{bound.state:14} {bound.name}: {bound.message}" for bound in self.verdict.bounds
        ]
        lines += [f"{c.state:14} control {c.kind}: {c.detail}" for c in self.verdict.controls]
        lines += [f"Scope: {self.verdict.scope}"] if self.verdict.scope else []
        lines += [f"Note: {note}" for note in self.notes]
        for line in lines:
            console.print(line, markup=False, highlight=False)
