"""The configuration page is the one the model writes, and every key it lists does something."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from checks.policy import Policy
from draftgate.config.config import ArmSection, Config
from draftgate.config.reference import KINDS, reference

ROOMS = ("traces", "replay", "checks", "reports", "draftgate")


def test_the_page_is_current(root: Path) -> None:
    page = (root / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page.strip() == reference().strip()


def test_the_page_speaks_of_toml_and_not_of_python() -> None:
    page = reference()
    kinds = {line.split(" | ")[1] for line in page.splitlines() if line.startswith("| `")}
    words = {"list of", "table of", "or", *KINDS.values()}
    for kind in kinds:
        rest = kind
        for word in sorted(words, key=len, reverse=True):
            rest = rest.replace(word, "")
        assert not rest.replace("`", "").strip(", ") or "`" in kind, kind
    assert "None" not in page
    assert "Optional" not in page


def read_attributes(root: Path) -> set[str]:
    """Names that the rooms read off some object (`x.name`), beside the models' own files."""
    return {
        node.attr
        for room in ROOMS
        for file in (root / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def sections() -> Iterator[type[BaseModel]]:
    yield from (Policy, ArmSection)
    for field in Config.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield field.annotation


@pytest.mark.parametrize("section", dict.fromkeys(sections()), ids=lambda section: section.__name__)
def test_no_key_is_dead(root: Path, section: type[BaseModel]) -> None:
    assert set(section.model_fields) - read_attributes(root) == set()


def test_no_type_has_an_empty_alternative() -> None:
    assert "or  or" not in reference()
    assert "| number or `model` |" in reference()
