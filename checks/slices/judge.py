"""A verdict per slice: does a fault live in one template, tag, tool or context band?

Every slice gets two tests, of its regret rate and of its tool-call success, against the baseline's
noise and answers in the same slice. Many slices are looked at, so the p-values of all tests are
adjusted together (Holm); the limits that a pass needs hold for all slices at once (Bonferroni).

    fail          an adjusted p at most `slice_p`, or a turn with a finding at severity error
    pass          every limit inside its margin
    inconclusive  otherwise, as of most slices, which are small; it never holds up the run

A slice whose test fails condemns the run (`slice_findings`) unless the whole run has failed by the
same measure already: then the slices only say where.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from checks import findings as codes
from checks.calls.behavior import PairedOutcome
from checks.findings import ERROR, Finding
from checks.greedy.judge import GreedyJudgement
from checks.greedy.turn import TurnRegrets
from checks.policy import Policy
from checks.slices.slices import Slice, TurnId
from checks.slices.tests import SliceTest, rate_test, success_test
from checks.stats.holm import holm

SliceVerdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, slots=True)
class SliceJudgement:
    """One slice. A test is `None` where the slice holds nothing it is about; `errors` counts the
    findings at severity error in its turns, `tests` all tests of the run the p-values share."""

    slice: Slice
    turns: int
    sessions: int
    errors: int
    rate: SliceTest | None
    success: SliceTest | None
    tests: int

    @property
    def verdict(self) -> SliceVerdict:
        """The slice's own; see above."""
        states = {test.state for test in (self.rate, self.success) if test is not None}
        if self.errors or "fail" in states:
            return "fail"
        return "pass" if states == {"pass"} else "inconclusive"


def judge_slices(
    slices: Mapping[Slice, frozenset[TurnId]],
    measured: Sequence[TurnRegrets],
    greedy: GreedyJudgement,
    outcomes: Sequence[PairedOutcome],
    findings: Sequence[Finding],
    policy: Policy,
    seed: int,
) -> list[SliceJudgement]:
    """One judgement per slice. `measured` are the greedy turns `greedy` judges."""
    noise = {floor.shape: floor for floor in greedy.noise}
    errors = Counter((f.session, f.turn) for f in findings if f.severity == ERROR)
    tested = [turn for turn in measured if turn.session in greedy.tested]
    level = 1 - 0.05 / max(1, len(slices))
    found = []
    for name, turns in slices.items():
        mine = [turn for turn in tested if (turn.session, turn.turn) in turns]
        pairs = [outcome for outcome in outcomes if (outcome.session, outcome.turn) in turns]
        found.append(
            SliceJudgement(
                slice=name,
                turns=len(turns),
                sessions=len({session for session, _ in turns}),
                errors=sum(errors[turn] for turn in turns),
                rate=rate_test(mine, noise, level, policy),
                success=success_test(pairs, level, policy, seed),
                tests=0,
            )
        )
    return _adjusted(found, policy)


def _adjusted(found: Sequence[SliceJudgement], policy: Policy) -> list[SliceJudgement]:
    """Every p-value adjusted for all of them."""
    plain = {
        f"{place} {kind}": test.p
        for place, one in enumerate(found)
        for kind, test in (("rate", one.rate), ("success", one.success))
        if test is not None and test.p is not None
    }
    adjusted = holm(plain)
    return [
        replace(
            one,
            rate=one.rate and one.rate.settled(adjusted.get(f"{place} rate"), policy),
            success=one.success and one.success.settled(adjusted.get(f"{place} success"), policy),
            tests=len(plain),
        )
        for place, one in enumerate(found)
    ]


def slice_findings(
    judged: Sequence[SliceJudgement], *, rate_failed: bool, success_failed: bool
) -> list[Finding]:
    """REGRET_RATE and TOOL_SUCCESS_INFERIOR of slices; none of what the whole run failed by."""
    found = []
    for one in judged:
        for code, test, known in (
            (codes.REGRET_RATE, one.rate, rate_failed),
            (codes.TOOL_SUCCESS_INFERIOR, one.success, success_failed),
        ):
            if test is None or test.state != "fail" or known:
                continue
            dimension, name = one.slice
            found.append(
                Finding(
                    code,
                    f"{dimension} {name}: {test.message}; p = {test.adjusted_p:.2g}, adjusted for "
                    f"{one.tests} tests of slices",
                    detail={"dimension": dimension, "slice": name},
                )
            )
    return found
