"""Paths mean the same wherever a user writes them: home folder, environment, globs."""

from pathlib import Path

import pytest

from traces.errors import InputError
from traces.user_paths import expanded, matching


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DAY", "20261130")
    monkeypatch.delenv("NOBODY_SETS_THIS", raising=False)
    monkeypatch.chdir(tmp_path)


def test_home_and_environment_are_put_in(tmp_path: Path) -> None:
    assert expanded("~/a/$DAY.jsonl") == f"{tmp_path}/a/20261130.jsonl"
    assert expanded("${DAY}x/b") == "20261130x/b"
    assert expanded("plain/path~") == "plain/path~"
    assert expanded("-") == "-"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(InputError, match="variable NOBODY_SETS_THIS is not set") as caught:
        expanded("${NOBODY_SETS_THIS}/x")
    assert caught.value.fix == "export NOBODY_SETS_THIS=…"


def test_a_file_that_is_really_called_so_is_taken_as_it_is(tmp_path: Path) -> None:
    for name in ("$DAY.jsonl", "a[1].jsonl", "~"):
        (tmp_path / name).write_text("")
        assert matching(name) == [Path(name)]


@pytest.mark.parametrize("before", ["", "~/", "$HOME/", "{home}/"])
def test_globs_are_alike_relative_absolute_and_below_home(tmp_path: Path, before: str) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / "logs" / name).write_text("")
    found = matching(f"{before.format(home=tmp_path)}logs/*.jsonl")
    assert [path.name for path in found] == ["a.jsonl", "b.jsonl"]
    assert [path.name for path in matching(f"{before.format(home=tmp_path)}**/*.txt")] == ["c.txt"]


def test_what_is_not_there_is_still_named() -> None:
    assert matching("no/such/*.jsonl") == [Path("no/such/*.jsonl")]
