"""Runs that are killed at every named point, and journals with flipped bytes: the short proof.

`python -m evidence.attacks.chaos` is the long one, whose figures stand in docs/evidence.md.
"""

import random
from pathlib import Path

import pytest

from evidence.attacks.flipped_bytes import cut_and_judge, flip_and_judge
from evidence.attacks.killed_runs import POINTS, killed_run, undisturbed
from evidence.attacks.served_pair import servers


def test_a_run_that_is_killed_at_a_named_point_ends_as_one_that_nobody_disturbed(
    tmp_path: Path,
) -> None:
    chance = random.Random(1)
    with servers(torn=True) as pair:
        whole = undisturbed(tmp_path / "whole", pair)
        assert whole.said["codes"]["ARGS_NOT_JSON"] > 0
        assert set(whole.turns.values()) == {1}
        for number, point in enumerate(POINTS):
            found = killed_run(tmp_path / f"killed-{number}", pair, whole, point, chance)
            assert found.killed, point
            assert found.wrong == [], point


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory):
    with servers(torn=True) as pair:
        yield undisturbed(tmp_path_factory.mktemp("whole"), pair)


def test_a_flipped_byte_is_named_or_costs_a_turn_that_is_named(journals, tmp_path: Path) -> None:
    chance = random.Random(2)
    fates = [flip_and_judge(journals, tmp_path / "flipped", chance) for _ in range(12)]
    assert [what for fate, what in fates if fate == "silent"] == []
    assert sum(fate == "refused" for fate, _ in fates) >= 6, "most of a journal is not its tail"


def test_a_journal_that_lost_its_end_costs_a_turn_that_is_named(journals, tmp_path: Path) -> None:
    files = [file.name for file in sorted(journals.folder.glob("*.zst"))]
    fates = {name: cut_and_judge(journals, tmp_path / "cut", name, 5) for name in files}
    assert [what for fate, what in fates.values() if fate in ("silent", "refused")] == []
    assert fates["baseline-main-0.jsonl.zst"][0] == "torn"
