"""Named questions: one SQL file each in `queries/`, documented by its leading comment.

    -- Where in an agent's output does this drafter die?
    -- boundary: what the token is part of
    select boundary, … from v_acceptance_by_boundary where run = $run …

`$run` (and `$old`, `$new`) are filled in with run ids. A last comment, ``none: …``, says what it
means when there are no rows.
"""

import difflib
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable

from reports.sql.sql import Answer, ask
from reports.store.store import Store
from reports.store.view import View, parse
from traces.errors import StoreError

FOLDER = files("reports.sql") / "queries"


def queries(folder: Traversable = FOLDER) -> dict[str, View]:
    """Every named query by name; `comment` is its question."""
    found = sorted(f.name for f in folder.iterdir() if f.name.endswith(".sql"))
    names = [name.removesuffix(".sql") for name in found]
    return {n: parse(n, (folder / f"{n}.sql").read_text(encoding="utf-8")) for n in names}


def find_query(name: str) -> View:
    """The query of that name; raises `StoreError` with the nearest names."""
    known = queries()
    if name not in known:
        near = difflib.get_close_matches(name, known, 3, 0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else "`draftgate query --list`"
        raise StoreError(f"there is no query {name!r}", hint)
    return known[name]


def answer(store: Store, name: str, run: str = "last", limit: int = 0, **runs: str) -> Answer:
    """The answer to a named question about `run` (an id, a beginning of one, or ``last``).

    `runs` fills further parameters, e.g. `old` and `new` of the query ``compare``.
    """
    query = find_query(name)
    given = {"run": run, **runs}
    wanted = [p for p in given if f"${p}" in query.sql]
    missing = [p for p in ("old", "new") if f"${p}" in query.sql and p not in given]
    if missing:
        raise StoreError(f"query {name} needs two runs", "`draftgate compare OLD NEW`")
    asked = ask(store, query.sql, {p: store.resolve(given[p]) for p in wanted}, limit)
    return replace(asked, none=query.none)
