"""The verdict a release manager signs.

    invalid       a control was missed, the set-up makes judgement meaningless, nothing was judged
    fail          a finding at severity error, or a bound broken
    pass          every applicable bound lies inside its margin
    inconclusive  otherwise, with what would decide it

A run of equal paths (A/A) that would pass is ``aa-pass``: it says that the gate raises no false
alarm here, and nothing of a candidate.

The first line that applies is the verdict. Absence of evidence is never a pass.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from checks.bounds import Bound, ControlResult
from checks.findings import CONTROL_NOT_CAUGHT, ERROR, INVALIDATING, Finding

Word = Literal["pass", "fail", "inconclusive", "invalid", "aa-pass"]
EXIT_CODES: dict[Word, int] = {"pass": 0, "aa-pass": 0, "fail": 1, "invalid": 2, "inconclusive": 3}

EQUAL_PATHS = "A/A: equal paths were compared, so this says nothing of a candidate"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, its reasons (most important first), and what it rests on.

    `power` says what the run could have detected, `scope` which tokens it looked at; `needed` what
    would decide an inconclusive run.
    """

    verdict: Word
    reasons: tuple[str, ...]
    bounds: tuple[Bound, ...]
    controls: tuple[ControlResult, ...]
    power: tuple[str, ...]
    needed: tuple[str, ...]
    scope: str = ""

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 2 invalid, 3 inconclusive."""
        return EXIT_CODES[self.verdict]

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and the store."""
        return asdict(self)


def decide(
    bounds: Sequence[Bound],
    findings: Sequence[Finding],
    controls: Sequence[ControlResult],
    power: Sequence[str] = (),
    setup: Sequence[str] = (),
    *,
    aa: bool = False,
    scope: str = "",
) -> Verdict:
    """Combine everything that was judged.

    `setup` holds reasons found outside the findings that make the run meaningless (no baseline
    answer at all, for example). `findings` are after policy changed severities. `aa` labels the
    verdict of a run that compared equal paths; `scope` is the line of `checks.scope`.
    """
    errors = [finding for finding in findings if finding.severity == ERROR]
    missed = [control for control in controls if control.state == "missed"]
    invalid = [*setup, *_counted([e for e in errors if e.code in INVALIDATING])]
    invalid += [f"{CONTROL_NOT_CAUGHT}: {c.kind}: {c.detail}" for c in missed]
    if not any(bound.applicable for bound in bounds):
        invalid.append("nothing was judged")
    failing = _counted([e for e in errors if e.code not in INVALIDATING])
    failing += [f"{b.name}: {b.message}" for b in bounds if b.state == "fail"]
    undecided = [f"{b.name}: {b.message}" for b in bounds if b.state == "inconclusive"]
    undecided += [f"control {c.kind}: {c.detail}" for c in controls if c.state == "no_data"]
    if not any(control.state == "caught" for control in controls):
        undecided.append("no control was planted, so it is not known whether a fault would show")
    word: Word
    if invalid:
        word, reasons = "invalid", [*invalid, *failing]
    elif failing:
        word, reasons = "fail", failing
    elif undecided:
        word, reasons = "inconclusive", undecided
    else:
        inside = sum(bound.applicable for bound in bounds)
        word = "aa-pass" if aa else "pass"
        reasons = [f"all {inside} applicable bounds lie inside their margins"]
    reasons = [EQUAL_PATHS, *reasons] if aa else reasons
    needed = tuple(
        f"{b.name}: {b.needed}" for b in bounds if b.state == "inconclusive" and b.needed
    )
    return Verdict(
        word, tuple(reasons), tuple(bounds), tuple(controls), tuple(power), needed, scope
    )


def _counted(errors: Sequence[Finding]) -> list[str]:
    """One reason per code, in the order of first appearance."""
    counts = Counter(finding.code for finding in errors)
    first = {finding.code: finding for finding in reversed(errors)}
    return [f"{code} x {n}: {_place(first[code])}" for code, n in counts.items()]


def _place(finding: Finding) -> str:
    arm = finding.detail.get("arm")
    where = [
        f"{name} {value}"
        for name, value in (
            ("arm", None if arm == "main" else arm),
            ("session", finding.session),
            ("turn", finding.turn),
            ("token", finding.token),
        )
        if value is not None
    ]
    return f"{finding.message} ({', '.join(where)})" if where else finding.message
