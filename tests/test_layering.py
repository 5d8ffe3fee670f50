"""The rooms and their one-way arrows: the complete whitelist.

A room is a folder, or the modules that stand directly in a folder ("checks" below is
`checks/*.py`). Every import counts, at any depth of the code. An arrow that is not in the table
fails, even where it points down.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGES = ("traces", "replay", "checks", "reports", "draftgate")

ROOMS = {
    "traces": "",
    "traces.session": "",
    "traces.wire": "",
    "traces.routes": "traces.wire",
    "traces.journal": "traces.wire traces.routes",
    "traces.redaction": "traces.session",
    "traces.cases": "traces.wire",
    "traces.boundaries.label": "",
    "traces.boundaries.mode": "traces.boundaries.label",
    "traces.boundaries.span": "traces.boundaries.label",
    "traces.boundaries.blocks": "traces.boundaries.label",
    "traces.boundaries.arguments": "traces.boundaries.label traces.boundaries.blocks",
    "traces.boundaries.families": "traces.boundaries.label traces.boundaries.mode",
    "traces.boundaries": "traces.boundaries.label traces.boundaries.mode traces.boundaries.span"
    " traces.boundaries.blocks traces.boundaries.arguments traces.boundaries.families",
    "traces.readers.files": "traces.session",
    "traces.readers": "traces.session traces.readers.files",
    "traces.readers.chat": "traces.session traces.readers.files traces.readers",
    "traces.readers.formats": "traces.session traces.readers.files traces.readers"
    " traces.readers.chat",
    "traces.readers.registry": "traces.readers.files traces.readers traces.readers.formats",
    "traces.importing": "traces.session traces.readers.files traces.readers"
    " traces.readers.registry",
    "replay": "",
    "replay.sending": "",
    "replay.launch": "",
    "replay.writing": "replay.sending",
    "replay.recording": "replay.sending replay.writing",
    "replay.scoring": "replay.sending",
    "replay.facts": "replay.sending replay.launch replay.scoring",
    "checks": "",
    "checks.stats": "",
    "checks.formats": "",
    "checks.servers": "checks.stats",
    "checks.tokens": "checks.stats checks.formats",
    "checks.sampled": "checks.stats",
    "checks.acceptance": "checks.stats checks.servers",
    "checks.calls": "checks.stats checks.formats",
    "checks.greedy": "checks.stats checks.tokens",
    "checks.slices": "checks.stats checks.tokens checks.greedy checks.calls checks.acceptance",
    "checks.exact": "checks.formats checks.calls checks.tokens",
    "checks.splits": "checks.formats checks.calls",
    "checks.cases": "checks.formats checks.exact checks.acceptance checks.splits checks.tokens",
    "checks.controls": "checks.stats checks.formats checks.exact checks.greedy checks.sampled"
    " checks.acceptance checks.splits checks.tokens checks.calls",
    "checks.vllm": "checks.stats checks.splits checks.cases checks.acceptance checks.formats"
    " checks.calls",
    "checks.sessions": "checks.stats checks.servers checks.tokens checks.sampled"
    " checks.acceptance checks.greedy checks.controls checks.vllm",
    "checks.run": "checks.sessions checks.stats checks.formats checks.servers checks.tokens"
    " checks.sampled checks.acceptance checks.calls checks.greedy checks.slices checks.exact"
    " checks.splits checks.cases checks.controls checks.vllm",
    "reports": "",
    "reports.schema": "",
    "reports.store": "reports.schema",
    "reports.rows": "reports.schema",
    "reports.sql": "reports.schema reports.store",
    "reports.formats": "reports.store",
    "reports.browser": "reports.store reports.sql reports.formats",
    "draftgate.version": "",
    "draftgate.progress": "",
    "draftgate.config": "",
    "draftgate.machine": "draftgate.config",
    "draftgate.judging": "",
    "draftgate.run": "draftgate.config draftgate.progress draftgate.version draftgate.judging",
    "draftgate.preflight": "draftgate.config draftgate.machine draftgate.run",
    "draftgate.run.gate": "draftgate.config draftgate.progress draftgate.version draftgate.run"
    " draftgate.preflight draftgate.judging",
    "draftgate.run.single": "draftgate.config draftgate.progress draftgate.run draftgate.preflight",
    "draftgate.parsers": "",
    "draftgate.init": "draftgate.config",
    "draftgate.demo": "",
    "draftgate.testing": "draftgate.run",
    "draftgate": "draftgate.version draftgate.progress draftgate.config draftgate.machine"
    " draftgate.run draftgate.run.gate draftgate.run.single",
    "draftgate.commands": "draftgate draftgate.progress draftgate.config draftgate.machine"
    " draftgate.run draftgate.preflight draftgate.parsers draftgate.init draftgate.demo",
    "draftgate.pytest_plugin": "draftgate draftgate.progress draftgate.config draftgate.machine"
    " draftgate.run draftgate.testing",
}
"""Room -> the rooms of its package that it may import. The modules directly in `traces`, `replay`,
`checks` and `reports` are words, which every room of that package may import."""

WORDS = ("traces", "replay", "checks", "reports")

BETWEEN = {
    "traces": set(),
    "replay": {"traces"},
    "checks": {"traces"},
    "reports": {"traces", "checks"},
    "draftgate": {"traces", "replay", "checks", "reports"},
}
"""Package -> the packages it may import."""

OUTSIDE = ("models", "evidence", "benchmarks", "tools")
"""What the wheel does not hold, besides the tests."""

MOST_MODULES = 16
"""A folder with more is a drawer: nobody finds a file in it."""


def room_of(module: str) -> str:
    """The room a module stands in: the longest name in the table that is a part of its own.

    Raises KeyError where a folder is no room: a new one needs its row in the table.
    """
    parts = module.removesuffix(".__init__").split(".")
    while ".".join(parts) not in ROOMS:
        parts.pop()
        if not parts:
            raise KeyError(module)
    return ".".join(parts)


@cache
def modules(root: Path) -> dict[str, Path]:
    """Every module of the five packages, by its dotted name."""
    return {
        ".".join(file.relative_to(root).with_suffix("").parts): file
        for package in PACKAGES
        for file in sorted((root / package).rglob("*.py"))
    }


def named(code: str) -> Iterator[str]:
    """What a source imports, at any depth of its code; ``from a import b`` gives ``a.b``."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported(code: str, known: frozenset[str]) -> Iterator[str]:
    """The modules of the five packages that a source imports."""
    for name in named(code):
        if name.split(".")[0] in PACKAGES:
            above = name.rpartition(".")[0]
            found = (name, above, f"{name}.__init__", f"{above}.__init__")
            yield next(module for module in found if module in known)


@cache
def graph(root: Path) -> dict[str, frozenset[str]]:
    """Module -> the modules it imports."""
    found = modules(root)
    known = frozenset(found)
    return {
        name: frozenset(imported(file.read_text(encoding="utf-8"), known))
        for name, file in found.items()
    }


def allowed(importer: str, module: str) -> bool:
    """Whether `importer` may import `module`."""
    here, there = importer.split(".")[0], module.split(".")[0]
    if here != there:
        return there in BETWEEN[here]
    rooms = room_of(importer), room_of(module)
    return rooms[0] == rooms[1] or rooms[1] in WORDS or rooms[1] in ROOMS[rooms[0]].split()


def test_rooms_import_only_what_the_table_allows(root: Path) -> None:
    wrong = [
        f"{importer} imports {module}"
        for importer, found in graph(root).items()
        for module in sorted(found)
        if not allowed(importer, module)
    ]
    assert wrong == []


def test_no_import_goes_round_in_a_circle(root: Path) -> None:
    """Not even through imports inside functions."""
    edges = {name: found - {name, "draftgate.__init__"} for name, found in graph(root).items()}
    while leaves := [name for name, found in edges.items() if not found & edges.keys()]:
        for name in leaves:
            del edges[name]
    in_circle = {name: sorted(found & edges.keys()) for name, found in edges.items()}
    assert in_circle == {}


def test_the_table_itself_has_no_circle() -> None:
    rows = {room: set(may.split()) for room, may in ROOMS.items()}
    while leaves := [room for room, may in rows.items() if not may & rows.keys()]:
        for room in leaves:
            del rows[room]
    assert rows == {}


def test_rooms_import_nothing_that_is_not_in_the_wheel(root: Path) -> None:
    wrong = [
        f"{name} imports {module}"
        for name, file in modules(root).items()
        for module in named(file.read_text(encoding="utf-8"))
        if module.split(".")[0] in {*OUTSIDE, "tests"}
    ]
    assert wrong == []


@pytest.mark.parametrize("package", [*PACKAGES, *OUTSIDE])
def test_folders_are_small(root: Path, package: str) -> None:
    folders = [root / package, *(f for f in (root / package).rglob("*") if f.is_dir())]
    sizes = {str(f.relative_to(root)): len(list(f.glob("*.py"))) for f in folders}
    assert {folder: n for folder, n in sizes.items() if n > MOST_MODULES} == {}


def test_every_folder_says_what_it_is_for(root: Path) -> None:
    silent = [
        name
        for name, file in modules(root).items()
        if name.endswith("__init__") and not ast.get_docstring(ast.parse(file.read_text("utf-8")))
    ]
    assert silent == []


def test_the_checker_sees_forbidden_imports() -> None:
    known = frozenset({"replay.sending.client", "checks.run.judge", "draftgate.cli"})
    code = "def f():\n    from replay.sending import client\n    import draftgate.cli\n"
    assert set(imported(code, known)) == {"replay.sending.client", "draftgate.cli"}
    assert not allowed("traces.wire.sse", "replay.sending.client")
    assert not allowed("checks.exact.judge", "checks.run.judge")
    assert not allowed("traces.session.turn", "traces.readers.registry")
    assert allowed("checks.run.judge", "checks.policy")


IMPURE = {"asyncio", "aiohttp", "duckdb", "http", "random", "requests", "socket", "subprocess"}
IMPURE |= {"time", "urllib", "vllm"}


def test_checks_are_pure(root: Path) -> None:
    """No clock, network, process or unseeded randomness; vLLM only in its own room."""
    wrong = []
    for name, file in modules(root).items():
        if not name.startswith("checks."):
            continue
        found = {module.split(".")[0] for module in named(file.read_text(encoding="utf-8"))}
        impure = found & (IMPURE - ({"vllm"} if name.startswith("checks.vllm.") else set()))
        wrong += [f"{name} imports {package}" for package in sorted(impure)]
    assert wrong == []


IMPORT_VLLM = {
    "checks.vllm": "judges by vLLM's own parsers, tokenizer and n-gram proposer",
    "replay.launch.drafter_script": "is run by the server's Python, in a process of its own",
    "replay.launch.vllm_plugin.draftgate_draft_ids": "is run by vLLM, in the server's processes",
}
"""Who may import vLLM, only inside functions, and why."""


def test_only_these_import_vllm_and_only_inside_functions(root: Path) -> None:
    importers, outside = set(), []
    for name, file in modules(root).items():
        code = file.read_text(encoding="utf-8")
        if any(module.split(".")[0] == "vllm" for module in named(code)):
            room = name.rpartition(".")[0]
            importers.add(name if name in IMPORT_VLLM else room if room in IMPORT_VLLM else "")
            top = "\n".join(
                ast.unparse(node)
                for node in ast.parse(code).body
                if isinstance(node, (ast.Import, ast.ImportFrom, ast.If, ast.Try))
            )
            outside += [name for module in named(top) if module.split(".")[0] == "vllm"]
    assert importers == IMPORT_VLLM.keys()
    assert outside == []


def test_importing_checks_does_not_import_vllm(root: Path) -> None:
    names = [name for name in modules(root) if name.startswith("checks.")]
    names = [name for name in names if not name.endswith("__init__")]
    code = f"import sys, importlib\nfor m in {names!r}: importlib.import_module(m)\n"
    code += "assert 'vllm' not in sys.modules and 'torch' not in sys.modules"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
