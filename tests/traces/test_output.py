"""Files are written whole or not at all, and what the system refuses is one message."""

import errno
import os
import stat
from pathlib import Path

import pytest

from traces.errors import OutputError
from traces.output import whole_file, write_whole, writing


def _half(file: Path, error: Exception) -> None:
    with whole_file(file) as part:
        part.write_text("half")
        raise error


def test_a_file_is_replaced_only_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_whole(file, "first")
    with pytest.raises(RuntimeError):
        _half(file, RuntimeError())
    assert file.read_text() == "first"
    write_whole(file, "second")
    assert file.read_text() == "second"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_keeps_leading_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("real.txt")
    write_whole(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(
    ("place", "words", "fix"),
    [
        ("none/x.txt", "No such file or directory", "a folder on the way to it may be missing"),
        ("file/x.txt", "Not a directory", "is a file; name a folder there"),
        ("folder", "Is a directory", "name a file, not a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_named(
    tmp_path: Path, place: str, words: str, fix: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError) as caught:
        write_whole(tmp_path / place, "x")
    assert str(caught.value) == f"{tmp_path / place}: cannot be written ({words})"
    assert fix in caught.value.fix
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    with pytest.raises(OutputError, match="No space left on device") as caught:
        _half(file, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert "free some space" in caught.value.fix
    assert list(tmp_path.iterdir()) == []


def test_other_errors_pass_through(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not mine"), writing(tmp_path):
        raise ValueError("not mine")
