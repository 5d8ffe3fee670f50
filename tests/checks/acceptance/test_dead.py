"""ACCEPTANCE_DEAD without a reference: of many drafts, in many sessions, next to none accepted."""

import numpy as np
import pytest

from checks.acceptance.dead import dead_profile, dead_run
from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.profile_sums import ProfileSums, Sums


def row(drafts: int, accepted: int, boundary: str = "all", k: int = 8) -> ProfileRow:
    per_position = (accepted, *[0] * (k - 1))
    return ProfileRow(boundary, "0-8k", drafts, drafts * k, per_position, accepted)


@pytest.mark.parametrize(
    ("drafts", "accepted", "dead"),
    [
        (20312, 8, True),  # a head that was never set
        (1000, 0, True),
        (999, 0, False),  # too few drafts
        (1000, 57, True),  # 0.71%: at most 0.96% by the exact limit
        (1000, 60, False),  # 0.75%: at most 1.01%
        (1000, 900, False),
    ],
)
def test_of_a_profile(drafts: int, accepted: int, dead: bool) -> None:
    assert [f.code for f in dead_profile([row(drafts, accepted)])] == ["ACCEPTANCE_DEAD"] * dead


def test_rows_of_all_boundaries_hold_the_others_already() -> None:
    rows = [row(600, 0), row(400, 0, "code"), row(200, 0, "prose")]
    assert not dead_profile(rows)
    assert dead_profile([row(600, 0, "code"), row(400, 0, "prose")])


def test_rows_that_contradict_themselves_do_not_count() -> None:
    wrong = ProfileRow("all", "0-8k", 5000, 40000, (0,) * 8, 7)
    assert not dead_profile([wrong])


def sums(accepted: list[int], drafts: int) -> ProfileSums:
    """One session per entry, so many draft tokens of it accepted, drafts of eight tokens."""
    whole = ProfileSums(8)
    for number, count in enumerate(accepted):
        session = Sums(8)
        session.drafts, session.draft_tokens = drafts, 8 * drafts
        session.accepted_tokens = count
        whole._sessions[f"s{number}"] = {("all", "all"): session}
    return whole


@pytest.mark.parametrize(
    ("accepted", "drafts", "dead"),
    [
        ([0] * 10, 100, True),
        ([0] * 9, 1000, False),  # too few sessions
        ([0] * 10, 99, False),  # 990 drafts
        ([1] * 20, 1000, True),
        ([0] * 19 + [1000], 1000, False),  # one session in which it works
    ],
)
def test_of_a_run_sessions_are_what_is_independent(
    accepted: list[int], drafts: int, dead: bool
) -> None:
    assert [f.code for f in dead_run(sums(accepted, drafts))] == ["ACCEPTANCE_DEAD"] * dead


def test_a_drafter_of_one_accepted_token_in_fifty_is_bad_and_not_dead() -> None:
    drawn = np.random.default_rng(7).binomial(8000, 0.02, 40)
    assert not dead_run(sums(drawn.tolist(), 1000))
