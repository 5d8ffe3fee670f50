"""Two arms of the same sessions: what the change cost, and how sure that is."""

import numpy as np
import pytest
from scipy import stats

from checks.acceptance.drafting import Drafting
from checks.acceptance.positions import join
from checks.acceptance.profile_sums import ProfileSums
from checks.acceptance.steps import StepFacts, Steps, reconcile
from checks.acceptance.template_shift import Shift, compare_templates
from traces.boundaries.label import INDEX
from traces.boundaries.span import TokenLabels


def arm(accepted: dict[str, list[int]], k: int = 2, *, code_too: bool = False) -> ProfileSums:
    """Sessions with the accepted counts of their steps in prose; the same again in code."""
    sums = ProfileSums(k)
    for session, steps_of_prose in accepted.items():
        counts = steps_of_prose * 2 if code_too else steps_of_prose
        committed = [1, *(a + 1 for a in counts)]
        tokens = sum(committed)
        facts = StepFacts(tuple(counts), (k,) * len(counts), tokens, tuple(committed), 64, 0)
        steps = reconcile(facts, Drafting("eagle3", k))
        assert isinstance(steps, Steps)
        nothing = (None,) * tokens
        label = np.full(tokens, INDEX["prose"], np.int8)
        if code_too:
            label[1 + (tokens - 1) // 2 :] = INDEX["code"]
        labels = TokenLabels(label, nothing, nothing)
        sums.add(session, join(steps, labels, 100), steps)
    return sums


def whole(shifts: list[Shift]) -> Shift:
    return next(shift for shift in shifts if shift.dimension == "all")


def test_what_is_lost() -> None:
    """Main: half of the steps accept 2, half 1. Changed: half 1, half none."""
    names = [f"s{i}" for i in range(6)]
    main = arm({name: [2, 1] * 20 for name in names})
    changed = arm({name: [1, 0] * 20 for name in names})
    shift = whole(compare_templates(main, changed))
    assert shift.length.value == pytest.approx(-1.0)
    assert (shift.length.low, shift.length.high) == pytest.approx((-1.0, -1.0))
    assert shift.share.value == pytest.approx(1 / 3)
    assert [c.value for c in shift.conditional] == pytest.approx([-0.5, -0.5])
    assert shift.length.sessions == 6
    assert (shift.main, shift.changed, shift.change) == (2.5, 1.5, "lower")


def test_pairing_takes_the_traffic_out_of_the_interval() -> None:
    """Sessions differ far more from each other than the arms do."""
    rng = np.random.default_rng(4)
    main, changed = {}, {}
    for i in range(25):
        share = rng.uniform(0.1, 0.9)
        counts = [2 if draw < share else 0 for draw in rng.random(60)]
        main[f"s{i}"] = counts
        changed[f"s{i}"] = [1 if n and j % 3 == 0 else n for j, n in enumerate(counts)]
    shift = whole(compare_templates(arm(main), arm(changed)))
    assert shift.length.high is not None
    assert shift.length.low is not None
    assert shift.length.high < 0
    assert shift.length.high - shift.length.low < 0.15


def test_only_shared_sessions_count_and_k_must_agree() -> None:
    main = arm({"a": [2] * 40, "b": [0] * 40})
    shift = whole(compare_templates(main, arm({"a": [2] * 40})))
    assert shift.length.value == pytest.approx(0.0)
    assert shift.length.sessions == 1
    with pytest.raises(ValueError, match="draft tokens"):
        compare_templates(main, arm({"a": [1]}, k=3))


def test_too_few_drafts_are_not_compared() -> None:
    shift = whole(compare_templates(arm({"a": [2] * 9}), arm({"a": [2] * 40})))
    assert shift.length.value is None
    assert shift.drift.value is None
    assert (shift.main, shift.changed, shift.change) == (None, None, None)


def test_boundaries_share_the_chance_of_a_wrong_word() -> None:
    """Two boundaries halve the 5% of each: the interval of the same data grows as Student's t."""
    rng = np.random.default_rng(5)
    draws = {f"s{i}": rng.integers(0, 3, 80).tolist() for i in range(12)}
    fewer = {session: [max(0, n - 1) for n in counts] for session, counts in draws.items()}

    def width(code_too: bool) -> float:
        shifts = compare_templates(arm(draws, code_too=code_too), arm(fewer, code_too=code_too))
        prose = next(s for s in shifts if (s.dimension, s.slice) == ("boundary", "prose"))
        assert prose.length.low is not None
        assert prose.length.high is not None
        return prose.length.high - prose.length.low

    expected = stats.t.ppf(1 - 0.05 / 4, 11) / stats.t.ppf(1 - 0.05 / 2, 11)
    assert width(True) / width(False) == pytest.approx(expected)
