"""A gate on a machine that misbehaves ends in words, and goes on as if nothing had been: in short.

`python -m evidence.attacks.chaos` is the long proof, whose figures stand in docs/evidence.md.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.attacks.bad_machines import DISKS, DISTURBANCES, disturbed_run
from evidence.attacks.commands import prepared, whole_run
from evidence.attacks.cut_stores import STORE, cut_store, lengths
from evidence.attacks.served_pair import Servers, servers
from evidence.attacks.side_by_side import one_run, one_store
from evidence.attacks.snapshot import Undisturbed


@pytest.fixture(scope="module")
def pair() -> Iterator[Servers]:
    with servers(torn=True) as running:
        yield running


@pytest.fixture(scope="module")
def whole(pair: Servers, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    found, ended = whole_run(prepared(tmp_path_factory.mktemp("whole"), pair))
    assert found is not None, ended.err
    assert found.said["codes"]["ARGS_NOT_JSON"] > 0
    return found


@pytest.mark.parametrize("name", [*DISTURBANCES, *DISKS])
def test_a_disturbed_run_goes_on_as_one_that_nobody_disturbed(
    pair: Servers, whole: Undisturbed, tmp_path: Path, name: str
) -> None:
    """Where no small disk can be mounted, a limit on the size of files stands for a full one."""
    found = disturbed_run(tmp_path / "run", pair, whole, name, random.Random(name))
    assert found.wrong == ()


def test_a_store_that_was_cut_off_is_named_and_made_again(
    pair: Servers, whole: Undisturbed, tmp_path: Path
) -> None:
    size = (whole.folder.parents[2] / STORE).stat().st_size
    some = random.Random(3).sample(lengths(size, 60, random.Random(4)), 3)
    for length in (size - 1, *some):
        found = cut_store(whole, tmp_path / "cut", length)
        assert found.wrong == ()
        assert found.refused, "nothing was missing"


def test_two_gates_at_once_do_not_disturb_each_other(
    pair: Servers, whole: Undisturbed, tmp_path: Path
) -> None:
    chance = random.Random(5)
    for attempt in (one_store, one_run):
        home = tmp_path / attempt.__name__
        home.mkdir()
        assert attempt(home, pair, whole, chance) == []
