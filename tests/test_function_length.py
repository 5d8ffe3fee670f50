"""A function fits on a screen: so many lines, docstring and all."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = ("traces", "replay", "checks", "reports", "draftgate")
MOST_LINES = 60


def long_functions(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MOST_LINES:
                yield f"{file}:{node.lineno} {node.name}: {lines} lines"


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_short(root: Path, package: str) -> None:
    found = [
        name for file in sorted((root / package).rglob("*.py")) for name in long_functions(file)
    ]
    assert found == []
