"""What the command line writes is its owner's, and what it says does not act on a terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import draftgate
from draftgate.cli import run
from draftgate.machine.failure import inert

WRITES = """
import sys
from pathlib import Path
from draftgate import cli
sys.argv = ["draftgate", "--version"]
try:
    cli.main()
finally:
    Path("store").touch()
    Path("folder").mkdir()
"""


def test_files_are_their_owner_s(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITES]
    here = {**os.environ, "PYTHONPATH": str(Path(draftgate.__file__).parents[1])}
    subprocess.run(command, cwd=tmp_path, check=True, umask=0o022, env=here)
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\x9b2Jb", r"a\x9b2Jb"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\u2066b\u200fc", r"a\u2066b\u200fc"),
        ("one\rtwo", r"one\rtwo"),
        ("\ud800", r"\ud800"),
        ("line\n\tnext é 漢", "line\n\tnext é 漢"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_an_error_about_a_hostile_name_does_not_act(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "a\x1b[2J\u202eb.case.json"
    case.write_text("{")
    assert run(["check", str(case)]) == 2
    shown = "".join(capsys.readouterr())
    assert "not JSON" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
