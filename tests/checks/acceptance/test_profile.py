"""Profiles from hand-counted steps, and intervals that know about sessions."""

import numpy as np
import pytest

from checks.acceptance.drafting import Drafting
from checks.acceptance.positions import join
from checks.acceptance.profile import MIN_COUNT, Cell, drift, profile, profile_rows
from checks.acceptance.profile_sums import ProfileSums, Sums
from checks.acceptance.steps import StepFacts, Steps, reconcile
from checks.stats.session_interval import clustered, clustered_rate, ratio
from traces.boundaries.label import INDEX
from traces.boundaries.span import TokenLabels


def add(sums: ProfileSums, session: str, accepted: tuple[int, ...], names: str) -> None:
    """`names` has one letter per token: p(rose), c(ode)."""
    committed = tuple(a + 1 for a in accepted)
    facts = StepFacts(
        accepted, (sums.k,) * len(accepted), 1 + sum(committed), (1, *committed), 64, 0
    )
    steps = reconcile(facts, Drafting("eagle3", sums.k))
    assert isinstance(steps, Steps)
    codes = np.array([INDEX["code" if n == "c" else "prose"] for n in names], np.int8)
    nothing = (None,) * len(names)
    sums.add(session, join(steps, TokenLabels(codes, nothing, nothing), 100), steps)


def cells(sums: ProfileSums) -> dict[tuple[str, str], Cell]:
    return {(cell.dimension, cell.slice): cell for cell in profile(sums)}


def counted() -> ProfileSums:
    """One request, k = 2: steps accept 2, 1, 0; tokens p ppc cc c: 4 of code."""
    sums = ProfileSums(2)
    add(sums, "s", (2, 1, 0), "pppcccc")
    return sums


def test_sums_by_hand() -> None:
    by_slice = {key: sessions[0] for key, sessions in counted().slices()}
    everything = by_slice["all", "all"]
    assert (everything.drafts, everything.draft_tokens, everything.accepted_tokens) == (3, 6, 3)
    assert everything.reached.tolist() == [3, 2]
    assert everything.accepted.tolist() == [2, 1]
    assert everything.longer.tolist() == [2, 1]
    assert everything.tried.tolist() == [3, 2]
    assert everything.empty == 1
    assert everything.length_sum == pytest.approx(2.0)
    prose, code = by_slice["boundary", "prose"], by_slice["boundary", "code"]
    assert (prose.drafts, prose.accepted_tokens) == (1, 2)
    assert prose.reached.tolist() == [1, 1]
    assert (code.drafts, code.accepted_tokens) == (2, 1)
    assert code.reached.tolist() == [2, 1]
    assert code.accepted.tolist() == [1, 0]


def test_rows_as_a_reference_run_holds_them() -> None:
    rows = [row.as_mapping() for row in profile_rows(counted())]
    assert {
        "boundary": "all",
        "context_bucket": "0-8k",
        "num_drafts": 3,
        "num_draft_tokens": 6,
        "accepted_per_pos": [2, 1],
        "reached_per_pos": [3, 2],
        "num_accepted_tokens": 3,
    } in rows
    assert {
        "boundary": "code",
        "context_bucket": "0-8k",
        "num_drafts": 2,
        "num_draft_tokens": 4,
        "accepted_per_pos": [1, 0],
        "reached_per_pos": [2, 1],
        "num_accepted_tokens": 1,
    } in rows


def test_too_few_observations_are_not_available() -> None:
    cell = cells(counted())["all", "all"]
    assert cell.length.value is None
    assert str(cell.length) == "n/a"
    assert cell.conditional[0].value is None
    assert cell.drift.value is None
    assert (cell.total.empty, cell.total.drafts, cell.sessions) == (1, 3, 1)


def test_lengths_weighted_by_token_and_by_request() -> None:
    """One long request at length 3 and one short one at length 1, in two sessions."""
    sums = ProfileSums(2)
    add(sums, "a", (2,) * MIN_COUNT, "p" * (1 + 3 * MIN_COUNT))
    add(sums, "b", (0,) * 10, "p" * 11)
    cell = cells(sums)["all", "all"]
    assert cell.length.value == pytest.approx(1 + 2 * MIN_COUNT / (MIN_COUNT + 10))
    assert cell.request_length.value == pytest.approx(2.0)
    assert cell.conditional[0].value == pytest.approx(MIN_COUNT / (MIN_COUNT + 10))
    assert cell.conditional[1].value == pytest.approx(1.0)
    assert cell.length.sessions == 2


def test_rates_by_position_are_of_all_drafts_as_vllm_counts_them() -> None:
    """30 drafts of 40 accept both tokens: 75% at each position, where all that reach the second
    accept it; the rates sum to the acceptance length - 1."""
    sums = ProfileSums(2)
    add(sums, "a", (2,) * 30, "p" * 91)
    add(sums, "b", (0,) * 10, "p" * 11)
    cell = cells(sums)["all", "all"]
    assert [rate.value for rate in cell.rates] == [0.75, 0.75]
    assert [rate.value for rate in cell.conditional] == [0.75, 1.0]
    assert cell.length.value == pytest.approx(1 + 0.75 + 0.75)


def test_of_drafts_of_several_lengths_those_count_that_reach_and_draft_a_position() -> None:
    """Drafts of 3, 1, 3, 1 tokens accept 3, 1, 0, 0: one reaches the second position, though two
    accept all before it."""
    sums = Sums(3)
    sums.add_steps(np.array([3, 1, 3, 1]), np.array([3, 1, 0, 0]))
    assert sums.longer.tolist() == [2, 1, 1]
    assert sums.tried.tolist() == [4, 1, 1]
    both = sums + sums
    assert (both.drafts, both.draft_tokens, both.requests) == (8, 16, 2)
    assert both.tried.tolist() == [8, 2, 2]
    assert sums.drafts == 4


def test_tags_are_slices_of_whole_sessions() -> None:
    sums = ProfileSums(2)
    for session, accepted in (("a", 2), ("b", 1), ("c", 0)):
        add(sums, session, (accepted,) * 40, "p" * (1 + 40 * (accepted + 1)))
    tags = {"a": {"team": "red"}, "b": {"team": "red", "lang": "go"}, "gone": {"team": "blue"}}
    tagged = {c.slice: c for c in profile(sums, tags) if c.dimension == "tag"}
    assert list(tagged) == ["lang=go", "team=red"]
    assert (tagged["team=red"].sessions, tagged["team=red"].length.value) == (2, 2.5)
    assert tagged["lang=go"].length.value == 2.0


def test_a_rate_of_one_has_an_interval_that_is_no_point() -> None:
    """200 of 200 in 4 sessions: as Wilson of 200 (1.95996 / 3.18245)^2 = 75.86 trials."""
    found = clustered_rate(np.array([[50.0, 50.0]] * 4))
    assert (found.value, found.high, found.sessions) == (1.0, 1.0, 4)
    assert found.low == pytest.approx(75.858 / (75.858 + 1.95996**2), abs=1e-5)


def test_the_interval_of_a_rate_is_that_of_its_sessions() -> None:
    """40 sessions of 1000 trials, rates 0.2 or 0.8: a standard error of 0.3 sqrt(1/39)."""
    found = clustered_rate(np.array([[200.0, 1000.0], [800.0, 1000.0]] * 20))
    reach = 2.02269 * 0.3 / np.sqrt(39)  # t(0.975, 39)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.5 - reach, abs=0.003)
    assert found.high == pytest.approx(0.5 + reach, abs=0.003)
    assert clustered_rate(np.array([[3.0, 10.0], [0.0, 0.0]])).low is None


def test_one_session_gives_no_interval() -> None:
    found = clustered(ratio, np.array([[30.0, 100.0]]), 100)
    assert (found.value, found.low, found.high) == (0.3, None, None)


def test_jackknife_of_a_mean_is_the_t_interval() -> None:
    """With equal denominators the jackknife of the ratio is Student's interval of the mean."""
    values = np.array([0.1, 0.3, 0.2, 0.6, 0.4])
    found = clustered(ratio, np.column_stack((values, np.ones(5))), 5)
    reach = 2.776445105 * values.std(ddof=1) / np.sqrt(5)  # t(0.975, 4)
    assert found.value == pytest.approx(0.32)
    assert found.low == pytest.approx(0.32 - reach)
    assert found.high == pytest.approx(0.32 + reach)


def test_bootstrap_covers_the_clusters_not_the_tokens() -> None:
    """40 sessions of 1000 tokens, rates 0.2 or 0.8: the interval is that of 40 draws."""
    hits = np.array([200.0, 800.0] * 20)
    found = clustered(ratio, np.column_stack((hits, np.full(40, 1000.0))), 40_000)
    assert found.value == pytest.approx(0.5)
    reach = 1.96 * 0.3 / np.sqrt(40)
    assert found.low == pytest.approx(0.5 - reach, abs=0.02)
    assert found.high == pytest.approx(0.5 + reach, abs=0.02)
    assert found == clustered(ratio, np.column_stack((hits, np.full(40, 1000.0))), 40_000)


def test_an_interval_is_cut_at_what_is_possible() -> None:
    """The t interval of two sessions, 0.1 and 0.9, reaches from below 0 to above 1."""
    sums = np.array([[1.0, 10.0], [9.0, 10.0]])
    open_ended = clustered(ratio, sums, 20)
    assert open_ended.low is not None
    assert open_ended.high is not None
    assert open_ended.low < 0 < 1 < open_ended.high
    cut = clustered(ratio, sums, 20, within=(0.0, 1.0))
    assert (cut.value, cut.low, cut.high) == (open_ended.value, 0.0, 1.0)


def test_no_acceptance_length_is_below_one_or_above_a_full_draft() -> None:
    """Ten sessions, nine of which accept everything and one nothing, k = 2."""
    sums = ProfileSums(2)
    for session in range(10):
        taken = (2, 2, 2, 2) if session else (0, 0, 0, 0)
        add(sums, f"s{session}", taken, "p" * (1 + sum(a + 1 for a in taken)))
    cell = cells(sums)["all", "all"]
    assert cell.length.low is not None
    assert cell.length.low >= 1
    assert cell.length.high == 3
    assert cell.request_length.high == 3


def test_drift_is_the_slope_of_the_logit() -> None:
    """c_i = 1 / (1 + exp(-(1 - 0.5 i))): slope -0.5."""
    reached = np.full(4, 1e6)
    accepted = reached / (1 + np.exp(-(1 - 0.5 * np.arange(4))))
    assert drift(np.concatenate((accepted, reached))[None, :])[0] == pytest.approx(-0.5, abs=1e-4)
