"""Did a whole run pass?"""

from typing import TYPE_CHECKING

from draftgate.testing.inconclusive import Inconclusive

if TYPE_CHECKING:
    from draftgate.run.outcome import GateOutcome


def assert_gate_passed(outcome: "GateOutcome") -> None:
    """The verdict of a run is ``pass``.

        def test_the_drafter_may_be_switched_on(draftgate_run):
            assert_gate_passed(draftgate_run)

    Raises AssertionError with the reasons where it is ``fail`` or ``invalid``, `Inconclusive` with
    what is missing where it is ``inconclusive``.
    """
    __tracebackhide__ = True
    from draftgate.testing.masking import Mask

    mask, verdict = Mask(), outcome.verdict
    if verdict.verdict == "pass":
        return
    lines = [f"run {outcome.run}: {verdict.verdict}", *verdict.reasons]
    if verdict.verdict == "inconclusive":
        raise Inconclusive("\n".join(mask(line) for line in [*lines, *verdict.needed]))
    if outcome.codes:
        counts = ", ".join(f"{code} × {count}" for code, count in outcome.codes.items())
        lines.append(f"codes: {counts}")
    cases = outcome.folder / "cases"
    if cases.is_dir():
        lines.append(f"case files: {cases}")
    if outcome.report is not None:
        lines.append(f"report: {outcome.report}")
    raise AssertionError("\n".join(mask(line) for line in lines))
