"""Recorded text of every hostile kind, through every format: it is shown, and does nothing."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree as xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from reports.formats.github import render_github
from reports.formats.html import render_html
from reports.formats.json_ import as_object, render_json
from reports.formats.junit import render_junit
from reports.formats.markdown import render_markdown
from reports.formats.terminal import print_details, print_summary
from reports.inert import for_spreadsheets, visible_json
from reports.sql.answer import as_csv, as_table
from reports.sql.sql import ask
from reports.store.store import Store
from reports.store.summary import Summary, read_summary
from tests.support.synthetic_run import synthetic_run

ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
"""Characters that a terminal or a viewer obeys; none may reach a format as it is."""

COMMAND = re.compile("^[^a-z]*::error", re.MULTILINE)
"""A command that begins a line, be it behind marks of a table."""

PIECES = (
    "\x1b[2J\x1b]8;;http://x\x07y\x1b]8;;\x07",
    "\x9b31m",
    "\u202egnp.exe\u2066",
    "\u200b\ufeff\u2028",
    "\n::error file=x::y\n",
    "%0A::set-output name=a::b",
    "[a](javascript:alert)",
    "![i](http://x/y.png)",
    "`` ` ```",
    "| a | b |\n|---|---|",
    "</td><script>alert(1)</script>",
    "]]><failure/>",
    '" onload="alert(1)',
    "\n## heading\n",
    "@team",
    "\x00\x0b\x7f",
    "\r\n\r",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "@SUM(1)",
)

TEXT = "".join(PIECES)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with Store.in_memory() as store:
        store.load(synthetic_run("bad", tokens=100, verdict="fail", text=TEXT))
        yield store


def _terminal(store: Store, summary: Summary) -> str:
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=120))
    print_details(summary, Console(file=out, width=120))
    return out.getvalue()


def _table(store: Store, summary: Summary) -> str:
    out = io.StringIO()
    for table in ("findings", "runs", "tokens", "tool_calls", "sessions"):
        Console(file=out, width=160).print(as_table(ask(store, f"from {table}"), 160))
    return out.getvalue()


def _csv(store: Store, summary: Summary) -> str:
    tables = ("findings", "runs", "tokens", "tool_calls", "sessions")
    return "\n".join(as_csv(ask(store, f"from {table}")) for table in tables)


FORMATS: dict[str, Callable[[Store, Summary], str]] = {
    "html": render_html,
    "junit": render_junit,
    "markdown": lambda store, summary: render_markdown(summary),
    "github": lambda store, summary: render_github(summary),
    "json": lambda store, summary: render_json(summary),
    "terminal": _terminal,
    "table": _table,
    "csv": _csv,
}


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_that_acts_reaches_a_format(store: Store, name: str) -> None:
    text = FORMATS[name](store, read_summary(store, "bad"))
    assert ACTS.findall(text) == []
    assert "gnp.exe" in text, "the text itself is gone"


def test_no_line_of_any_other_format_is_a_command_of_a_workflow(store: Store) -> None:
    """A runner obeys `::error` at the beginning of a line of any output."""
    summary = read_summary(store, "bad")
    for name in ("terminal", "markdown", "table", "csv", "json"):
        lines = FORMATS[name](store, summary).splitlines()
        assert [line for line in lines if COMMAND.search(line)] == [], name
    alone = as_csv(ask(store, "select message from findings where message like '%::error%'"))
    assert len(alone.splitlines()) > 1
    assert not COMMAND.search(alone)
    for line in render_github(summary).splitlines():
        assert line.count("::") >= 2
        assert line.startswith(("::error ", "::warning ", "::notice "))


def test_markdown_has_no_link_image_or_mention_outside_of_code(store: Store) -> None:
    outside = re.sub(r"(`+) ?.*? ?\1(?!`)", "", render_markdown(read_summary(store, "bad")))
    for piece in ("](", "![", "<script", "@team", "\n## heading"):
        assert piece not in outside


def test_junit_is_xml_whose_elements_are_its_own(store: Store) -> None:
    root = xml.fromstring(render_junit(store, read_summary(store, "bad")).encode())
    assert {element.tag for element in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "error", "skipped",
        "properties", "property", "system-out",
    }  # fmt: skip


def test_json_holds_the_text_as_it_is(store: Store) -> None:
    summary = read_summary(store, "bad")
    assert json.loads(render_json(summary)) == json.loads(json.dumps(as_object(summary)))
    assert TEXT in json.loads(render_json(summary))["run"]["reasons"][0]


def test_no_cell_of_a_csv_is_a_formula(store: Store) -> None:
    with Store.in_memory() as own:
        own.load(synthetic_run("bad", tokens=50, verdict="fail", text="=1+1"))
        rows = csv.reader(io.StringIO(as_csv(ask(own, "select source, -1.5 as n from sessions"))))
    header, *cells = rows
    assert header == ["source", "n"]
    assert all(source.startswith("'=1+1-") and n == "-1.5" for source, n in cells)


@settings(max_examples=200)
@given(st.text())
def test_any_text_is_harmless_in_a_cell_and_the_same_in_json(text: str) -> None:
    cell = for_spreadsheets(text)
    assert not ACTS.search(cell)
    assert not cell.lstrip().startswith(("=", "+", "-", "@"))
    written = visible_json(json.dumps(text, ensure_ascii=False))
    assert not ACTS.search(written)
    assert json.loads(written) == text
