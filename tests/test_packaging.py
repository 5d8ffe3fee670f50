"""Wheel and sdist: every room with its data files and nothing else, and quick to start."""

import os
import resource
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

import pytest

ROOMS = {"traces", "replay", "checks", "reports", "draftgate"}
MOST_BYTES = 16 * 2**20
"""Of the wheel, 11 MiB of which are the demo's model pair."""
BUILD = "import sys, setuptools.build_meta as b; print(getattr(b, 'build_' + sys.argv[1])('dist'))"

START = """
import sys
# Nothing of the checkout: not its folder, and not the finder of an editable install.
sys.meta_path[:] = [f for f in sys.meta_path if not f.__module__.startswith("__editable__")]
sys.path[:] = [sys.argv.pop(1), *(p for p in sys.path if p not in ("", sys.argv[1]))]
del sys.argv[1]
"""


@pytest.fixture(scope="module")
def source(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, so that building leaves it clean."""
    try:
        if int(version("setuptools").split(".")[0]) < 77:
            pytest.skip("building needs setuptools 77 or newer here")
    except PackageNotFoundError:
        pytest.skip("building needs setuptools here")
    copy = tmp_path_factory.mktemp("source")
    for name in (*ROOMS, "tests", "models", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "work")
        shutil.copytree(root / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(root / name, copy / name)
    return copy


def built(kind: str, folder: Path) -> Path:
    """The wheel or sdist of a source folder, built without network."""
    command = [sys.executable, "-c", BUILD, kind]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "dist" / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    return built("wheel", source)


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_the_rooms_and_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in names_in(wheel) if ".dist-info/" not in name}
    assert tops == ROOMS
    assert not [name for name in names_in(wheel) if Path(name).name.startswith("test_")]
    assert {f"{room}/py.typed" for room in ROOMS} <= names_in(wheel)


def test_data_files_travel(root: Path, wheel: Path) -> None:
    wanted = [
        str(file.relative_to(root))
        for room in ROOMS
        for file in (root / room).rglob("*")
        if file.suffix in (".sql", ".j2", ".css", ".json") or file.name == "py.typed"
    ]
    assert len(wanted) > 50
    assert sorted(set(wanted) - names_in(wheel)) == []


def test_the_demo_and_the_pages_travel(root: Path, wheel: Path) -> None:
    """The model pair, the sessions and every page, and nothing else of their folders."""
    weights, docs, samples = root / "models" / "weights", root / "docs", root / "traces" / "samples"
    wanted = {f"draftgate/demo/pair/{f.relative_to(weights)}" for f in weights.glob("*/*")}
    wanted |= {f"draftgate/docs/{f.relative_to(docs)}" for f in docs.rglob("*.md")}
    wanted |= {f"traces/samples/{f.name}" for f in samples.glob("*.jsonl")}
    assert len(wanted) > 60
    assert sorted(wanted - names_in(wheel)) == []
    assert not [name for name in names_in(wheel) if name.endswith((".png", ".zst"))]
    assert wheel.stat().st_size < MOST_BYTES


def test_the_demo_finds_its_files_in_the_wheel(installed: Path, root: Path, tmp_path: Path) -> None:
    _, said = run_installed(installed, root, NO_VLLM + DEMO, str(tmp_path))
    places = said.split()
    assert places[0] == str(installed / "draftgate" / "demo" / "pair")
    assert places[1] == str(installed / "traces" / "samples")
    assert places[2] == str(installed / "draftgate" / "docs" / "findings.md")
    assert places[3] == "40"


def test_it_declares_its_licence_its_command_and_its_plugin(wheel: Path) -> None:
    own = [name for name in names_in(wheel) if name.split("/")[0].endswith(".dist-info")]
    with zipfile.ZipFile(wheel) as archive:
        texts = {Path(name).name: archive.read(name).decode() for name in own}
    assert "License-Expression: Apache-2.0" in texts["METADATA"]
    assert 'Requires-Dist: vllm>=0.32; extra == "vllm"' in texts["METADATA"]
    assert "draftgate = draftgate.cli:main" in texts["entry_points.txt"]
    assert "draftgate = draftgate.pytest_plugin" in texts["entry_points.txt"]


def test_the_sdist_builds_the_same_wheel(source: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(built("sdist", source)) as archive:
        archive.extractall(tmp_path, filter="data")
    (inside,) = tmp_path.iterdir()
    assert names_in(built("wheel", inside)) == names_in(wheel)
    assert not list((inside / "models").rglob("*.py"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, as an install lays them out."""
    place = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def test_the_vllm_plugin_travels_with_its_own_entry_point(installed: Path) -> None:
    """And vLLM servers that draftgate did not launch find none."""

    def found(folder: Path) -> list[str]:
        metadata = distributions(path=[str(folder)])
        entries = [entry for one in metadata for entry in one.entry_points]
        return [entry.value for entry in entries if entry.group.startswith("vllm.")]

    folder = installed / "replay" / "launch" / "vllm_plugin"
    assert found(folder) == ["draftgate_draft_ids:register"]
    assert (folder / "draftgate_draft_ids.py").is_file()
    assert found(installed) == []


def run_installed(place: Path, root: Path, code: str, *arguments: str) -> tuple[float, str]:
    """(CPU seconds, output) of `code` where only the wheel's own files can be imported. What a
    command waits for a core that others use is not its own."""
    command = [sys.executable, "-c", START + code, str(place), str(root), *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = cpu_of_children()
    done = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return cpu_of_children() - start, done.stdout


def cpu_of_children() -> float:
    """User and system seconds of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


HELP = "from draftgate.cli import main; main()"
NO_VLLM = "sys.modules['vllm'] = None\n"
EVERYTHING = """
import importlib, pkgutil
import draftgate.commands, draftgate.run.gate, draftgate.pytest_plugin.suite
for verb in pkgutil.iter_modules(draftgate.commands.__path__):
    importlib.import_module(f"draftgate.commands.{verb.name}")
from reports.formats.page import _environment
from reports.store.store import Store
Store.in_memory().close()
_environment().get_template("report.html.j2")
print(draftgate.__file__)
"""
DEMO = """
from pathlib import Path
from draftgate.config.file import read_config
from draftgate.demo.config import write_demo
from draftgate.demo.files import pair_folder, samples_folder
from draftgate.pages import page
from draftgate.run.plan import make_plan
config = read_config(write_demo(Path(sys.argv[1]) / "demo"))
print(pair_folder(), samples_folder(), page("ARGS_NOT_JSON").file, make_plan(config).turns)
"""


def test_it_starts_quickly(installed: Path, root: Path) -> None:
    """The quickest of five: `--help` in 300 ms, the import in 150 ms, over a bare interpreter."""
    bare = min(run_installed(installed, root, "")[0] for _ in range(5))
    helps = min(run_installed(installed, root, HELP, "--help")[0] for _ in range(5))
    imports = min(run_installed(installed, root, "import draftgate")[0] for _ in range(5))
    assert helps < 0.300
    assert imports - bare < 0.150


def test_every_verb_works_from_the_wheel_alone(installed: Path, root: Path) -> None:
    """Data files are found where the wheel put them, and vLLM is not needed to import anything."""
    _, listed = run_installed(installed, root, NO_VLLM + HELP, "query", "--list")
    assert "worst_boundaries" in listed
    _, place = run_installed(installed, root, NO_VLLM + EVERYTHING)
    assert place.strip() == str(installed / "draftgate" / "__init__.py")
