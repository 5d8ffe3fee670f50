"""Paired proportions against published numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from checks.stats.paired_proportions import (
    PairedTable,
    exact_mcnemar,
    loss_beyond,
    newcombe,
    pairs_for_margin,
    share_limit,
    wilson,
    zero_discordant_bound,
)


@pytest.mark.parametrize(
    ("cells", "low", "high"),
    [
        # Newcombe 1998, Stat Med 17:2635, table II, method 10 (cells a, b, c, d; a/n minus shares)
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((36, 14, 0, 0), 0.1528, 0.4167),
        ((54, 0, 0, 0), -0.0664, 0.0664),
        ((53, 1, 0, 0), -0.0496, 0.0979),
    ],
)
def test_newcombe_agrees_with_the_published_table(cells, low, high) -> None:
    both, first, second, neither = cells
    # The paper's difference is (b - c) / n; here the first sample is the candidate.
    found = newcombe(PairedTable(both, second, first, neither))
    assert found == pytest.approx((low, high), abs=6e-4)


def test_a_thousand_pairs() -> None:
    table = PairedTable(900, 25, 20, 55)
    assert table.difference == pytest.approx(-0.005)
    low, high = newcombe(table)
    assert (low, high) == pytest.approx((-0.019, 0.009), abs=6e-4)
    assert exact_mcnemar(table) == pytest.approx(0.55, abs=5e-3)


def test_exact_mcnemar_is_the_binomial_by_hand() -> None:
    # 1 against 8: 2 * (1 + 9) / 2^9
    assert exact_mcnemar(PairedTable(10, 8, 1, 3)) == pytest.approx(20 / 512)
    assert exact_mcnemar(PairedTable(10, 0, 0, 3)) == 1.0


def test_zero_discordant_pairs() -> None:
    assert zero_discordant_bound(149) <= 0.02 < zero_discordant_bound(148)


@pytest.mark.parametrize(
    ("cells", "p"),
    [
        # none won: q = (b (1 - m) - 2 m (n - b)) / 2n = 0.031, var = (0.062 + 0.0196) / 200,
        # z = (-0.1 + 0.02) / 0.0202 = -3.961
        ((180, 20, 0, 0), 3.74e-5),
        # a loss of exactly the margin: z = 0
        ((96, 2, 0, 2), 0.5),
    ],
)
def test_a_loss_beyond_the_margin_by_hand(cells, p) -> None:
    assert loss_beyond(PairedTable(*cells), 0.02) == pytest.approx(p, rel=5e-3)


def test_the_limit_of_a_share() -> None:
    # 0 of 24: 1 - 0.05^(1/24); 1 of 20: Clopper & Pearson 1934, chart of 90% two-sided
    assert share_limit(0, 24) == pytest.approx(0.1174, abs=1e-4)
    assert share_limit(1, 20) == pytest.approx(0.2161, abs=1e-3)
    assert share_limit(3, 3) == 1.0


def test_pairs_for_margin() -> None:
    assert [pairs_for_margin(*case) for case in ((0.04, 0.02), (0.10, 0.02), (0.04, 0.05))] == [
        pytest.approx(1051, abs=1),
        pytest.approx(2627, abs=1),
        pytest.approx(169, abs=1),
    ]


def test_wilson_agrees_with_the_published_interval() -> None:
    # Newcombe 1998, Stat Med 17:857, table I, method 3: 81 of 263
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=6e-5)


@given(st.tuples(*[st.integers(0, 60)] * 4).filter(lambda cells: sum(cells) > 0))
def test_newcombe_holds_the_estimate_and_mirrors(cells) -> None:
    a, b, c, d = cells
    table, mirror = PairedTable(a, b, c, d), PairedTable(a, c, b, d)
    low, high = newcombe(table)
    assert -1 - 1e-9 <= low <= table.difference + 1e-9
    assert table.difference - 1e-9 <= high <= 1 + 1e-9
    assert newcombe(mirror) == pytest.approx((-high, -low), abs=1e-9)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_symmetric(b: int, c: int) -> None:
    assert exact_mcnemar(PairedTable(5, b, c, 5)) == pytest.approx(
        exact_mcnemar(PairedTable(5, c, b, 5))
    )
    if b + c:
        assert exact_mcnemar(PairedTable(0, b, c, 0)) == pytest.approx(
            stats.binomtest(b, b + c).pvalue
        )
