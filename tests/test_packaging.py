"""The wheel: every room with its data files, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOMS = {"traces", "replay", "checks", "reports", "draftgate"}


@pytest.fixture(scope="module")
def names(root: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """File names in the wheel, built from a copy so that the checkout stays clean."""
    try:
        if int(version("setuptools").split(".")[0]) < 77:
            pytest.skip("building the wheel needs setuptools 77 or newer here")
    except PackageNotFoundError:
        pytest.skip("building the wheel needs setuptools here")
    copy = tmp_path_factory.mktemp("source")
    for name in (*ROOMS, "tests", "models"):
        ignored = shutil.ignore_patterns("__pycache__", "weights", "work", "samples")
        shutil.copytree(root / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, copy / name)
    built = copy / "dist"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--wheel-dir", str(built), str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = built.glob("draftgate-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_it_holds_the_rooms_and_nothing_else(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == ROOMS


def test_data_files_travel(root: Path, names: set[str]) -> None:
    wanted = [
        str(file.relative_to(root))
        for room in ROOMS
        for file in (root / room).rglob("*")
        if file.suffix in (".sql", ".j2", ".css", ".json") or file.name == "py.typed"
    ]
    data = [name for name in wanted if "/samples/" not in name]
    assert len(data) > 50
    assert sorted(set(data) - names) == []
