"""`draftgate docs`: the pages a user of the wheel has, and no message that names another."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.findings import CODES
from draftgate.cli import run
from draftgate.pages import page, pages
from traces.errors import InputError

PACKAGES = ("traces", "replay", "checks", "reports", "draftgate")
PAGE = re.compile(r"docs/[\w./-]+\.md")
TOPIC = re.compile(r"`draftgate docs ([\w./-]+)`")


def test_every_page_is_listed_and_printed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["docs", "--json"]) == 0
    listed = {row["page"] for row in json.loads(capsys.readouterr().out)["pages"]}
    docs = root / "docs"
    assert listed == {
        file.relative_to(docs).with_suffix("").as_posix() for file in docs.rglob("*.md")
    }
    assert run(["docs", "guides/ci"]) == 0
    assert capsys.readouterr().out == (docs / "guides" / "ci.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("topic", ["docs/limits.md", "limits.md", "limits"])
def test_a_page_is_found_by_any_of_its_names(topic: str) -> None:
    assert page(topic).text.startswith("# ")


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_its_entry(code: str) -> None:
    entry = page(code.lower()).text
    assert entry.startswith(f"### `{code}`\n\n")
    assert "**What to do:**" in entry
    assert entry.count("###") == 1
    assert "\n## " not in entry


def test_an_unknown_topic_names_near_ones() -> None:
    with pytest.raises(InputError) as caught:
        page("configurations")
    assert "configuration" in caught.value.fix


def test_pages_are_the_same_on_each_call() -> None:
    assert [one.name for one in pages()] == sorted(one.name for one in pages())


def messages(file: Path) -> Iterator[str]:
    """Every string of a module that is not a docstring."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def test_no_message_names_a_page_that_a_user_of_the_wheel_does_not_have(root: Path) -> None:
    """Messages say `draftgate docs PAGE`, and that page is there."""
    made_here = {  # they write pages themselves
        "draftgate/commands/reference.py",
        "draftgate/config/reference.py",
        "reports/sql/documentation.py",
    }
    wrong, named = [], set()
    for package in PACKAGES:
        for file in (root / package).rglob("*.py"):
            place = file.relative_to(root).as_posix()
            for text in messages(file) if place not in made_here else ():
                wrong += [f"{place}: {found}" for found in PAGE.findall(text)]
                named |= set(TOPIC.findall(text))
    assert wrong == []
    assert len(named) > 4
    for topic in named - {"CODE"}:
        assert page(topic).text
