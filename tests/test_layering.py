"""The five rooms and their one-way arrows."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

MAY_IMPORT = {
    "traces": set(),
    "replay": {"traces"},
    "checks": {"traces"},
    "reports": {"traces", "checks"},
    "draftgate": {"traces", "replay", "checks", "reports"},
}


def _imports(file: Path) -> set[str]:
    """Top-level names a module imports, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(root: Path, room: str) -> None:
    wrong = [
        f"{file.relative_to(root)} imports {name}"
        for file in sorted((root / room).rglob("*.py"))
        for name in sorted(_imports(file) & ((set(MAY_IMPORT) | {"models", "tests"}) - {room}))
        if name not in MAY_IMPORT[room]
    ]
    assert wrong == []


def test_the_checker_sees_a_forbidden_import(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("def f():\n    from replay.client import send\n    import draftgate.cli\n")
    assert {"replay", "draftgate"} <= _imports(file)


IMPURE = {"asyncio", "aiohttp", "duckdb", "http", "random", "requests", "socket", "subprocess"}
IMPURE |= {"time", "urllib", "vllm"}


def test_checks_are_pure(root: Path) -> None:
    """No clock, network, process or unseeded randomness; vLLM only in its adapters' functions."""
    wrong = []
    for file in sorted((root / "checks").rglob("*.py")):
        impure = _imports(file) & IMPURE
        if file.parent.name == "vllm":
            impure -= {"vllm"}
        wrong += [f"{file.relative_to(root)} imports {name}" for name in sorted(impure)]
    assert wrong == []


def test_importing_checks_does_not_import_vllm(root: Path) -> None:
    modules = [
        ".".join(file.relative_to(root).with_suffix("").parts)
        for file in sorted((root / "checks").rglob("*.py"))
        if file.name != "__init__.py"
    ]
    code = f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\n"
    code += "assert 'vllm' not in sys.modules and 'torch' not in sys.modules"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
