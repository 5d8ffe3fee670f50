"""``draftgate query``: a named question to the store."""

import json
from importlib.resources import files
from pathlib import Path

import click

from draftgate.commands.answer_output import answer_options, give
from traces.errors import StoreError


def _names(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Questions that begin so, for the shell's completion: file names, and nothing imported."""
    known = (
        file.name.removesuffix(".sql") for file in (files("reports.sql") / "queries").iterdir()
    )
    return sorted(name for name in known if name.startswith(begun))


@click.command()
@click.argument("name", required=False, shell_complete=_names)
@click.option(
    "--run", default=None, help="Run id, a beginning of one, or last, which is the default."
)
@click.option("--list", "show_list", is_flag=True, help="List the questions.")
@click.option("--sql", "show_sql", is_flag=True, help="Show the SQL of the question instead.")
@answer_options
def command(
    name: str | None,
    run: str | None,
    show_list: bool,
    show_sql: bool,
    db: Path,
    limit: int,
    style: str,
    as_json: bool,
    output: Path | None,
) -> int:
    """Answer the question NAME from the store; without a NAME, list the questions.

    \b
    draftgate query worst_boundaries
    draftgate query diverged --run 20260526 --format csv
    """
    from reports.sql.query import answer, find_query, queries
    from reports.sql.sql import open_sealed

    if name is None or show_list:
        return _listed({n: q.comment for n, q in queries().items()}, as_json or style == "json")
    sql = find_query(name).sql
    if show_sql:
        click.echo(sql)
        return 0
    if run is not None and "$run" not in sql:
        raise StoreError(f"query {name} is not about one run", "leave out --run")
    with open_sealed(db) as store:
        found = answer(store, name, run or "last", limit)
    return give(found, "json" if as_json else style, output)


def _listed(questions: dict[str, str], as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps({"queries": questions}))
        return 0
    width = max(map(len, questions))
    for name, question in questions.items():
        click.echo(f"{name:{width}}  {question}")
    return 0
