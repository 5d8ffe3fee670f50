"""A run against a reference run: real losses are seen, chance is not."""

import numpy as np
import pytest

from checks.acceptance.loss import judge_loss, loss_statement, losses
from checks.acceptance.profile_row import ProfileRow, SessionCounts
from checks.acceptance.rate_change import rate_change
from checks.acceptance.reference import compare_profiles, compare_with_reference
from checks.findings import Finding, NotJudged
from checks.policy import Policy
from evidence.simulated.acceptance_sizes import pair_of_runs
from traces.boundaries.label import LABELS

POLICY = Policy()


def row(boundary: str, drafts: int, *accepted: int, sessions: int = 20) -> ProfileRow:
    """Spread evenly over the sessions, but for what does not divide."""
    tokens = drafts * len(accepted)
    shares = tuple(
        (f"s{i:02}", SessionCounts(own[0], own[1:], own[:-1]))
        for i in range(sessions)
        for own in [tuple(part(n, sessions, i) for n in (drafts, *accepted))]
    )
    return ProfileRow(boundary, "0-8k", drafts, tokens, accepted, sum(accepted), sessions=shares)


def part(count: int, sessions: int, place: int) -> int:
    return count // sessions + (place < count % sessions)


def fired(judged: list[Finding | NotJudged]) -> list[str]:
    return sorted({one.code for one in judged if isinstance(one, Finding)})


def test_a_plain_loss_is_seen() -> None:
    reference = [row("code", 2000, 1500, 1100, 700), row("prose", 2000, 1200, 700, 300)]
    collapsed = [row("code", 1000, 300, 150, 80), row("prose", 1000, 600, 350, 150)]
    assert fired(compare_with_reference(collapsed, reference)) == ["ACCEPTANCE_COLLAPSE"]
    decayed = [row("code", 1000, 740, 200, 60), row("prose", 1000, 600, 350, 150)]
    assert fired(compare_with_reference(decayed, reference)) == ["ACCEPTANCE_DEPTH_DECAY"]


def test_a_deep_position_reached_a_few_times_is_no_evidence() -> None:
    """c_2 is 1 of 8 against 4 of 8: a case file says lost, a run says chance."""
    reference, seen = [row("code", 120, 60, 8, 4)], [row("code", 120, 60, 8, 1)]
    assert fired(compare_profiles(seen, reference)) == ["ACCEPTANCE_DEPTH_DECAY"]
    assert fired(compare_with_reference(seen, reference)) == []


def test_counts_without_their_sessions_are_no_evidence_in_a_run() -> None:
    bare = [
        ProfileRow("code", "0-8k", 2000, 2000, (accepted,), accepted) for accepted in (1500, 300)
    ]
    assert fired(compare_profiles(bare[1:], bare[:1])) == ["ACCEPTANCE_COLLAPSE"]
    assert fired(compare_with_reference(bare[1:], bare[:1])) == []
    assert losses(bare[1:], bare[:1], 0.1) == []


def test_a_drafter_against_itself_stays_quiet() -> None:
    """200 pairs of runs of one drafter, 16 labels, 100 to 400 drafts each, k = 4."""
    rng = np.random.default_rng(5)

    def run() -> list[ProfileRow]:
        rows = []
        for i, label in enumerate(LABELS):
            drafts = int(rng.integers(100, 400))
            accepted, left = [], drafts
            for _ in range(4):
                left = int(rng.binomial(left, 0.15 + 0.05 * i))
                accepted.append(left)
            rows.append(row(label, drafts, *accepted))
        return rows

    runs = [(run(), run()) for _ in range(200)]
    by_rule = sum(bool(fired(compare_profiles(*pair))) for pair in runs)
    with_certainty = sum(bool(fired(compare_with_reference(*pair))) for pair in runs)
    assert by_rule > 100  # why certainty is asked for
    assert with_certainty <= 2


# Sessions of one traffic that differ widely, as real ones do (a design effect near 30).


@pytest.mark.parametrize("sessions", [10, 26, 104])
def test_other_sessions_of_the_same_traffic_are_no_loss(sessions: int) -> None:
    for seed in range(20):
        run, reference = pair_of_runs((7, seed), sessions, 1.0, same=False)
        assert fired(compare_with_reference(run, reference)) == []
        assert {one.decision for one in losses(run, reference, 0.1)} <= {"not decided", "kept"}


def test_a_loss_in_the_same_sessions_is_seen_and_a_sound_run_is_kept() -> None:
    run, reference = pair_of_runs((7, 1), 26, 0.85, same=True)
    bound, findings = judge_loss(losses(run, reference, 0.1), True, POLICY)
    assert bound.state == "fail"
    assert {finding.code for finding in findings} == {"ACCEPTANCE_LOSS"}
    run, reference = pair_of_runs((7, 1), 26, 1.0, same=True)
    bound, findings = judge_loss(losses(run, reference, 0.1), True, POLICY)
    assert (bound.state, findings) == ("pass", [])


def test_what_is_not_decided_leaves_the_run_open_only_where_that_is_demanded() -> None:
    run, reference = pair_of_runs((7, 2), 10, 1.0, same=False)
    found = losses(run, reference, 0.1)
    required = Policy(acceptance_required=True)
    assert found[0].decision == "not decided"
    assert judge_loss(found, True, POLICY)[0].state == "not_applicable"
    assert judge_loss(found, True, required)[0].state == "inconclusive"
    assert judge_loss([], False, POLICY)[0].state == "not_applicable"
    assert judge_loss([], False, required)[0].state == "inconclusive"


def test_power_is_said_only_where_a_test_exists() -> None:
    assert loss_statement([], False).startswith("without a reference run no loss")
    assert loss_statement([], True).startswith("too few drafts")
    run, reference = pair_of_runs((7, 1), 26, 1.0, same=True)
    said = loss_statement(losses(run, reference, 0.1), True)
    assert said.endswith("of acceptance would have failed (90%)")


def test_the_change_of_a_rate_by_hand() -> None:
    """Four sessions of 100 drafts in each run, none shared: 0.4 (30, 50, 30, 50 accepted) against
    0.5 without spread. Leaving a session out moves the rate by 10 / 400 / (1 - 1/4) = 1/30."""
    here = {f"a{i}": (100, n) for i, n in enumerate((30, 50, 30, 50))}
    there = {f"b{i}": (100, 50) for i in range(4)}
    found = rate_change(here, there)
    assert found.ratio == pytest.approx(0.8)
    assert found.error == pytest.approx((4 / 30**2) ** 0.5 / 0.5)
    assert (found.freedom, found.drafts, found.sessions) == (pytest.approx(3), 400, 4)


def test_sessions_of_both_runs_are_paired() -> None:
    """Each loses a tenth of its own, widely different, acceptance: what is left open is the chance
    of 9,000 drafts at 0.45 and at 0.5, not the difference between the sessions."""
    there = {f"s{i}": (1000, 100 * i) for i in range(1, 10)}
    here = {name: (drafts, accepted * 9 // 10) for name, (drafts, accepted) in there.items()}
    paired = rate_change(here, there)
    apart = rate_change({f"x{name}": counts for name, counts in here.items()}, there)
    assert paired.ratio == pytest.approx(0.9)
    chance = (0.45 * 0.55 + 0.9**2 * 0.25) / 9000
    assert paired.error == pytest.approx(chance**0.5 / 0.5, rel=1e-3)
    assert apart.error is not None
    assert apart.error > 0.2


def test_one_huge_session_is_one_witness() -> None:
    there = {"big": (100_000, 50_000), "small": (10, 5)}
    assert rate_change(there, there).error is None
    assert rate_change(there, there).p_below(1.0) == 1.0
