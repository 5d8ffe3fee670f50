"""The script behind the tables of docs/evidence.md."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from checks.greedy.judge import judge_measured
from checks.greedy.turn import measure_turn
from checks.policy import Policy
from evidence.markdown import table
from evidence.simulated.pool import Run, others, pack, read, tokens, unpack
from evidence.simulated.strengths import half_caught, rate_need
from evidence.simulated.tables import counted, pool_alarms, resampled
from tests.support.synthetic_model import SyntheticModel, gaussian, greedy_pool


def made(noise: float = 0.0) -> Run:
    arms = {(arm, "decode"): gaussian(noise) for arm in ("candidate", "repeat")} if noise else {}
    turns = greedy_pool(SyntheticModel(noise=arms), sessions=4, turns=2, length=10)
    return turns, [measure_turn(turn) for turn in turns]


def test_pseudo_runs_draw_whole_sessions_under_new_names() -> None:
    pool = made()
    turns, measured = next(iter(resampled(pool, 1)))
    assert len(turns) == len(measured) == 8
    assert len({turn.session for turn in turns}) == 4
    assert [turn.session for turn in turns] == [regrets.session for regrets in measured]
    assert {turn.candidate.token_ids for turn in turns} <= {t.candidate.token_ids for t in pool[0]}


def test_a_pseudo_run_may_be_smaller_than_the_pool() -> None:
    turns, _ = next(iter(resampled(made(), 1, sessions=3)))
    assert len({turn.session for turn in turns}) == 3


def test_a_quiet_pool_raises_no_alarm() -> None:
    last = pool_alarms(made(), runs=3).splitlines()[-1]
    assert last == "| 4 sessions | 3 | 0 | 3 | 0 |"


def test_a_packed_pool_is_judged_as_the_turns_it_was_made_of() -> None:
    turns, measured = made(noise=0.5)
    assert any(turn.divergence is not None for turn in measured), "the noise forks some turn"
    stubs, again = unpack(pack(measured))
    assert [turn.session for turn in stubs] == [turn.session for turn in turns]
    for old, new in zip(measured, again, strict=True):
        assert (new.divergence, new.repeat_divergence) == (old.divergence, old.repeat_divergence)
        assert (new.tokens, new.unscored) == (old.tokens, old.unscored)
        pairs = zip((*new.candidate, *new.noise), (*old.candidate, *old.noise), strict=True)
        for unpacked, packed in pairs:
            assert (unpacked.shape, unpacked.start) == (packed.shape, packed.start)
            np.testing.assert_allclose(unpacked.values, packed.values, atol=1e-6)
            assert (unpacked.bounded == packed.bounded).all()
    policy = Policy(rate_margin=3e-4)
    rates = [judge_measured(*run, policy, 0).rate for run in ((turns, measured), (stubs, again))]
    assert rates[0] == rates[1]


def test_a_run_that_is_added_takes_the_place_of_the_one_of_its_name(tmp_path: Path) -> None:
    _, measured = made()
    runs = [replace(turn, session=f"{name}/{turn.session}") for name in "ab" for turn in measured]
    file = tmp_path / "pool.gz"
    file.write_bytes(pack(runs))
    assert {turn.session.split("/")[0] for turn in others(file, ["b=x", "c=y"])} == {"a"}
    assert len(others(file, ["c=y"])) == len(runs)


def test_the_committed_pool_holds_no_text_and_enough_tokens() -> None:
    turns, measured = read()
    assert all(turn.candidate.tokens is None for turn in turns)
    of_smollm2 = [turn for turn in measured if turn.session.startswith("smollm2")]
    assert tokens(of_smollm2) >= 20_000
    assert any(turn.divergence is not None for turn in of_smollm2), "real noise forks some turn"


def test_real_noise_raises_no_alarm() -> None:
    *_, last = pool_alarms(read(), runs=20, sizes=(24,)).splitlines()
    assert last.startswith("| 24 sessions | 20 | 0 |")


def test_tables() -> None:
    assert table(("a", "b"), [(1, 2)]) == "| a | b |\n|---|---|\n| 1 | 2 |"
    assert counted("x", ["pass", "fail", "pass"]) == ("x", 3, 1, 0, 2)


def test_a_rate_is_predicted_to_show_where_its_lower_limit_leaves_twice_the_baselines() -> None:
    # k exceedances of the candidate, none of the baseline in as many tokens (deff 1): (2 / 3)^k,
    # which is half of 5e-4 at k = 20.5.
    assert [rate_need(rate, 0.0) for rate in (1e-2, 1e-3)] == pytest.approx([2046, 20460], rel=0.02)


def test_half_of_the_runs_are_caught_at_the_size_found() -> None:
    assert half_caught(lambda size, seed: size > 40 + seed, 30, runs=10) in range(45, 56)
