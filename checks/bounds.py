"""The bounds of the policy against what a run measured, and whether planted faults were seen."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from checks.findings import ERROR, Finding, NotJudged

State = Literal["pass", "fail", "inconclusive", "not_applicable"]
ControlState = Literal["caught", "missed", "no_data", "not_applicable"]


@dataclass(frozen=True, slots=True)
class Bound:
    """An estimate with its interval, and the margin it must stay inside.

        greedy_regret_rate  pass  0 [0, 2.1e-04] of 3e-04 per token, noise floor 0

    `low` and `high` are one-sided 95% limits, in `unit` as are `value`, `margin` and
    `noise_floor` (the same quantity of the baseline against itself). `n` counts observations,
    `sessions` the sessions they come from. `needed` says how much more data would decide an
    inconclusive bound. `None` means not measured.
    """

    name: str
    state: State
    message: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    margin: float | None = None
    noise_floor: float | None = None
    unit: str | None = None
    n: int | None = None
    sessions: int | None = None
    needed: str | None = None

    @property
    def applicable(self) -> bool:
        """False where the run holds nothing the bound is about (no tools, no sampled turns)."""
        return self.state != "not_applicable"


def not_applicable(name: str, message: str) -> Bound:
    """A bound about something that this run does not hold."""
    return Bound(name, "not_applicable", message)


@dataclass(frozen=True, slots=True)
class ControlResult:
    """`expected` is the one code that must fire, `None` for the unchanged copy, where none may.

    `state` is ``caught`` where that held, ``missed`` where not, ``no_data`` where the run is too
    small to plant it, ``not_applicable`` where it holds nothing to plant it in. `fired` lists the
    error codes that fired.
    """

    kind: str
    expected: str | None
    state: ControlState
    fired: tuple[str, ...]
    detail: str


def fired(results: Iterable[Finding | NotJudged]) -> tuple[str, ...]:
    """The error codes among the results, sorted."""
    errors = {r.code for r in results if isinstance(r, Finding) and r.severity == ERROR}
    return tuple(sorted(errors))
