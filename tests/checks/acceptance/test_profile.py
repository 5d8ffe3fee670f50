"""Profiles from hand-counted steps, and intervals that know about sessions."""

import numpy as np
import pytest

from checks.acceptance.drafting import Drafting
from checks.acceptance.positions import join
from checks.acceptance.profile import MIN_COUNT, Cell, drift, profile, profile_rows
from checks.acceptance.profile_sums import ProfileSums
from checks.acceptance.steps import StepFacts, Steps, reconcile
from checks.stats.session_interval import clustered, ratio
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
        "num_accepted_tokens": 3,
    } in rows
    assert {
        "boundary": "code",
        "context_bucket": "0-8k",
        "num_drafts": 2,
        "num_draft_tokens": 4,
        "accepted_per_pos": [1, 0],
        "num_accepted_tokens": 1,
    } in rows


def test_too_few_observations_are_not_available() -> None:
    cell = cells(counted())["all", "all"]
    assert cell.length.value is None
    assert str(cell.length) == "n/a"
    assert cell.conditional[0].value is None
    assert cell.drift.value is None
    assert cell.fallback == pytest.approx(1 / 3)


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


def test_drift_is_the_slope_of_the_logit() -> None:
    """c_i = 1 / (1 + exp(-(1 - 0.5 i))): slope -0.5."""
    reached = np.full(4, 1e6)
    accepted = reached / (1 + np.exp(-(1 - 0.5 * np.arange(4))))
    assert drift(np.concatenate((accepted, reached))[None, :])[0] == pytest.approx(-0.5, abs=1e-4)
