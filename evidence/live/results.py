"""What a gate run said, as one row of a table in `docs/evidence.md`."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from draftgate.run.outcome import GateOutcome
from evidence.markdown import table
from reports.store.store import Store
from reports.store.summary import read_summary

HEAD = (
    "candidate", "verdict", "findings at severity error", "bounds broken", "bounds open", "tokens",
    "forks", "near ties", "hard", "largest regret", "A/A forks", "acceptance length",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """One run. `largest` is in nat, `acceptance` the mean acceptance length; `None`: not known.

    `forks` are turns whose tokens part from the baseline's, `again` those of the baseline's repeat.
    """

    what: str
    run: str
    verdict: str
    codes: tuple[str, ...]
    broken: tuple[str, ...]
    undecided: tuple[str, ...]
    tokens: int
    forks: int
    near_ties: int
    hard: int
    largest: float | None
    again: int
    acceptance: float | None

    def cells(self) -> tuple[str, ...]:
        """The row under `HEAD`."""
        return (
            self.what,
            f"`{self.verdict}`",
            ", ".join(f"`{code}`" for code in self.codes) or "none",
            ", ".join(f"`{name}`" for name in self.broken) or "none",
            ", ".join(f"`{name}`" for name in self.undecided) or "none",
            f"{self.tokens:,}",
            str(self.forks),
            str(self.near_ties),
            str(self.hard),
            "n/a" if self.largest is None else f"{self.largest:.3f} nat",
            str(self.again),
            "n/a" if self.acceptance is None else f"{self.acceptance:.2f}",
        )


def result_of(what: str, outcome: GateOutcome) -> Result:
    """The row of a finished run, read from its store."""
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        summary = read_summary(store, outcome.run)
    forks = {row["comparison"]: row for row in summary["forks"]}
    candidate = forks.get("candidate", {})
    bounds = outcome.verdict.bounds
    whole = next(iter(summary["acceptance"]), None)
    return Result(
        what=what,
        run=outcome.run,
        verdict=outcome.verdict.verdict,
        codes=tuple(f"{code} x {count}" for code, count in outcome.codes.items()),
        broken=tuple(bound.name for bound in bounds if bound.state == "fail"),
        undecided=tuple(bound.name for bound in bounds if bound.state == "inconclusive"),
        tokens=outcome.counts["tokens_judged"],
        forks=candidate.get("forks", 0),
        near_ties=candidate.get("near_ties", 0),
        hard=candidate.get("hard", 0),
        largest=candidate.get("max_regret"),
        again=forks.get("aa", {}).get("forks", 0),
        acceptance=whole["acceptance_length"] if whole else None,
    )


def keep(result: Result, file: Path) -> None:
    """Append a row, so that a table can be put together from several commands."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(result)) + "\n")


def shown(results: Iterable[Result]) -> str:
    """The Markdown table."""
    return table(HEAD, [result.cells() for result in results])
