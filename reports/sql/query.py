"""Named questions: one SQL file each in `queries/`, documented by its leading comment.

    -- Where in an agent's output does this drafter die?
    -- boundary: what the token is part of
    select boundary, … from v_acceptance_by_boundary where run = $run …

`$run` is filled in with a run id. A last comment, ``none: …``, says what it means when there are no
rows.
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


def answer(store: Store, name: str, run: str = "last", limit: int = 0) -> Answer:
    """The answer to a named question about `run` (an id, a beginning of one, or ``last``)."""
    query = find_query(name)
    given = {"run": store.resolve(run)} if "$run" in query.sql else {}
    return replace(ask(store, query.sql, given, limit), none=query.none)
