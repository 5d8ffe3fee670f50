"""The script behind the tables of docs/evidence.md."""

from evidence.synthetic import SyntheticModel, greedy_pool
from evidence.tables import counted, pool_alarms, resampled, table


def test_pseudo_runs_draw_whole_sessions_under_new_names() -> None:
    pool = greedy_pool(SyntheticModel(), sessions=4, turns=2, length=10)
    turns, measured = next(iter(resampled(pool, 1)))
    assert len(turns) == len(measured) == 8
    assert len({turn.session for turn in turns}) == 4
    assert [turn.session for turn in turns] == [regrets.session for regrets in measured]
    assert {turn.candidate.token_ids for turn in turns} <= {t.candidate.token_ids for t in pool}


def test_a_quiet_pool_raises_no_alarm() -> None:
    pool = greedy_pool(SyntheticModel(), sessions=4, turns=2, length=10)
    last = pool_alarms(pool, runs=3).splitlines()[-1]
    assert last == "| pool of 80 tokens, 4 sessions | 3 | 0 | 3 | 0 |"


def test_tables() -> None:
    assert table(("a", "b"), [(1, 2)]) == "| a | b |\n|---|---|\n| 1 | 2 |"
    assert counted("x", ["pass", "fail", "pass"]) == ("x", 3, 1, 0, 2)
