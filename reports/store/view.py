"""Views: one SQL file each in `views/`, whose leading comment documents the view and its columns.

    -- Verdict of every run, newest first.
    -- run: run id
    -- verdict: pass, fail, inconclusive or invalid
    select run, verdict from runs order by started_at desc

Columns that mean what they mean in another view are named by the first and the last of them:

    -- run ... arm: as in v_acceptance_by_slice

A view selects, groups and joins. Intervals, p-values and quantiles are computed in `checks`, once,
and stored as rows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.resources.abc import Traversable

from reports.schema import KEPT, view_of
from reports.schema.statements import quoted

FOLDER = files("reports.store") / "views"
BORROWED = re.compile(r"(\w+) \.\.\. (\w+): as in (\w+)")


@dataclass(frozen=True, slots=True)
class View:
    """One view: its name, comment, column comments in order, and SELECT.

    `none` is what it means that there are no rows (named queries have it).
    """

    name: str
    comment: str
    columns: dict[str, str]
    sql: str
    none: str = ""


def views(folder: Traversable = FOLDER) -> list[View]:
    """Every view, so ordered that each comes after those it reads from; every column has its
    meaning."""
    found = {
        view.name: view
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.startswith("v_")
        for view in [parse(file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))]
    }
    ordered: dict[str, View] = {}

    def place(view: View) -> None:
        for other in found.values():
            if other is not view and other.name in view.sql.split() and other.name not in ordered:
                place(other)
        ordered.setdefault(view.name, view)

    for view in found.values():
        place(view)
    return [_complete(view, found) for view in ordered.values()]


def _complete(view: View, found: Mapping[str, View]) -> View:
    """The view with the meanings it borrows from others."""
    columns: dict[str, str] = {}
    for column, meaning in view.columns.items():
        borrowed = BORROWED.fullmatch(column)
        if borrowed is None:
            columns[column] = meaning
            continue
        first, last, other = borrowed.groups()
        names = list(found[other].columns)
        for name in names[names.index(first) : names.index(last) + 1]:
            columns[name] = found[other].columns[name]
    return replace(view, columns=columns)


def parse(name: str, text: str) -> View:
    """A view from its file's text; a line that borrows meanings stands as a column of its own."""
    lines = text.splitlines()
    header = [line[2:].strip() for line in lines if line.startswith("--")]
    comment: list[str] = []
    columns: dict[str, str] = {}
    for line in header:
        column, colon, meaning = line.partition(": ")
        if BORROWED.fullmatch(line):
            columns[line] = ""
        elif colon and column.isidentifier():
            columns[column] = meaning
        elif columns:
            columns[next(reversed(columns))] += " " + line
        else:
            comment.append(line)
    body = "\n".join(line for line in lines if not line.startswith("--"))
    none = columns.pop("none", "")
    return View(name, " ".join(comment), columns, body.strip().rstrip(";"), none)


def view_statements() -> Iterator[str]:
    """SQL that makes views anew and comments every view and column."""
    for view in views():
        yield f"create or replace view {view.name} as {view.sql}"
        yield f"comment on view {view.name} is {quoted(view.comment)}"
        for column, meaning in view.columns.items():
            yield f"comment on column {view.name}.{column} is {quoted(meaning)}"


def kept_statements() -> Iterator[str]:
    """SQL of the views over rows of captures; the other views read from them."""
    for name in KEPT:
        yield f"create or replace view {name} as {view_of(name)}"
