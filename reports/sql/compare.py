"""Two stored runs side by side: what got worse, with intervals."""

from dataclasses import dataclass
from typing import Any

from reports.store.differences import QUANTITIES, compare_quantities
from reports.store.store import Store
from reports.store.summary import Row

SET_UP = ("model", "vllm_version", "method", "num_speculative_tokens", "dtype", "template_hash")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Old and new run: verdicts, changed set-up, finding codes gone and new, changed numbers.

    `quantities` are those of `compare_quantities`; those with `change` ``worse`` lie outside the
    noise even when the number of comparisons is allowed for.
    """

    old: Row
    new: Row
    set_up: tuple[Row, ...]
    codes: tuple[Row, ...]
    quantities: tuple[Row, ...]

    @property
    def worse(self) -> tuple[Row, ...]:
        """Numbers that got worse beyond noise."""
        return tuple(row for row in self.quantities if row["change"] == "worse")

    @property
    def new_errors(self) -> tuple[Row, ...]:
        """Codes at severity error that the new run shows and the old one does not."""
        return tuple(row for row in self.codes if row["old"] == 0 and row["severity"] == "error")

    @property
    def regressed(self) -> bool:
        """True where a number got worse beyond noise, or an error code is new."""
        return bool(self.worse or self.new_errors)

    def as_object(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "old": self.old,
            "new": self.new,
            "regressed": self.regressed,
            "set_up": list(self.set_up),
            "codes": list(self.codes),
            "quantities": list(self.quantities),
        }


def compare_runs(store: Store, old: str, new: str) -> Comparison:
    """Compare two runs; ids may be shortened. Raises `StoreError` for unknown ones."""
    old, new = store.resolve(old), store.resolve(new)
    head = "select run, verdict from v_verdict where run = ?"
    (old_head,), (new_head,) = store.rows(head, [old]), store.rows(head, [new])
    codes = store.rows(
        """
        select code, severity, count(*) filter (run = ?) as old, count(*) filter (run = ?) as new
        from findings where run in (?, ?) group by code, severity
        having old <> new order by severity, code
        """,
        [old, new, old, new],
    )
    before, after = (store.rows(QUANTITIES, [run]) for run in (old, new))
    quantities = compare_quantities(before, after)
    return Comparison(old_head, new_head, _set_up(store, old, new), tuple(codes), tuple(quantities))


def _set_up(store: Store, old: str, new: str) -> tuple[Row, ...]:
    """Facts of the candidate path that differ between the runs."""
    facts = {
        row["run"]: row
        for row in store.rows("from paths where path = 'candidate' and run in (?, ?)", [old, new])
    }
    if len(facts) < 2 and old != new:
        return ()
    return tuple(
        {"fact": fact, "old": facts[old][fact], "new": facts[new][fact]}
        for fact in SET_UP
        if facts[old][fact] != facts[new][fact]
    )
