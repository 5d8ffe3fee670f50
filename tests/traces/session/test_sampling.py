"""A draw covers the strata, repeats with its seed, and is recorded."""

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.support.sessions.recordings import claude, lines, read, use
from traces.session.sampling import NOT_DRAWN, Stratum, allot, draw, only_drawn, strata_of

STRATA = [Stratum(tool, band, "shell") for tool in "abc" for band in ("0-8k", "8k-16k")]


@given(
    sizes=st.dictionaries(st.sampled_from(STRATA), st.integers(1, 50), min_size=1),
    total=st.integers(0, 200),
)
def test_shares_add_up_and_cover(sizes: dict[Stratum, int], total: int) -> None:
    shares = allot(sizes, total)
    assert sum(shares.values()) == min(total, sum(sizes.values()))
    assert all(shares[stratum] <= size for stratum, size in sizes.items())
    covered = [stratum for stratum in sizes if shares[stratum]]
    assert len(covered) == min(total, len(sizes))


def test_a_draw_is_seeded_and_stratified() -> None:
    strata = {(f"s{n % 7}", f"t{n:04d}"): STRATA[n % 5] for n in range(200)}
    first = draw(strata, 20, seed=1)
    assert first == draw(dict(reversed(strata.items())), 20, seed=1)
    assert first != draw(strata, 20, seed=2)
    assert Counter(strata[key] for key in first) == Counter(dict.fromkeys(STRATA[:5], 4))


def test_turns_that_were_not_drawn_say_so(tmp_path: Path) -> None:
    _, (session,) = read(
        tmp_path,
        lines(
            claude("user", "u1", None, "go"),
            claude("assistant", "a1", "u1", use("c1", command="ls"), message="m1"),
            claude("user", "u2", "a1", "more"),
            claude("assistant", "a2", "u2", "end", message="m2"),
        ),
    )
    strata = strata_of([session])
    assert set(strata.values()) == {
        Stratum("Bash", "0-8k", "shell"),
        Stratum("-", "0-8k", "prose"),
    }
    drawn = draw(strata, 1, seed=4)
    (kept,) = only_drawn([session], drawn, seed=4)
    reasons = [turn.skip_reason for turn in kept.turns]
    assert sorted(reasons, key=str) == sorted([None, NOT_DRAWN], key=str)
    assert kept.tags == {"sample_size": "1", "sample_seed": "4"}
    assert kept.stats.replayable == 1
    assert list(only_drawn([session], set(), seed=4)) == []
