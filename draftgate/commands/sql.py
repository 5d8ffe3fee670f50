"""``draftgate sql``: read-only SQL on the store."""

import sys
from pathlib import Path

import click

from draftgate.commands.answer_output import answer_options, give


@click.command()
@click.argument("query")
@answer_options
def command(
    query: str, db: Path, limit: int, style: str, as_json: bool, output: Path | None
) -> int:
    """Run one read-only SQL QUERY on the store (`-` reads it from standard input).

    \b
    draftgate sql "show tables"
    draftgate sql "from v_verdict"
    draftgate sql "select code, count(*) from findings group by code" --format csv
    """
    from reports.sql.sql import ask, open_sealed

    with open_sealed(db) as store:
        answer = ask(store, sys.stdin.read() if query == "-" else query, limit=limit)
    return give(answer, "json" if as_json else style, output)
