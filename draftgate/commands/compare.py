"""``draftgate compare``: two stored runs side by side."""

from pathlib import Path

import click

from draftgate.commands.answer_output import db_option
from traces.errors import StoreError


@click.command()
@click.argument("old")
@click.argument("new", required=False)
@click.option("--all", "show_all", is_flag=True, help="Show numbers that did not change too.")
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
@db_option
def command(old: str, new: str | None, show_all: bool, as_json: bool, db: Path) -> int:
    """Put the runs OLD and NEW side by side: what got worse, with intervals. NEW is the last run
    where only OLD is named.

    Ends with 1 where a number got worse beyond noise or an error code is new, else with 0.
    """
    from reports.sql.compare import compare_runs
    from reports.sql.sql import open_sealed

    with open_sealed(db) as store:
        comparison = compare_runs(store, old, new or "last")
    if new is None and comparison.old == comparison.new:
        raise StoreError(
            f"{old} is the last run, so there is none to put beside it",
            "name an older run; `draftgate query verdicts` lists them",
        )
    if as_json:
        import json

        click.echo(json.dumps(comparison.as_object()))
    else:
        from rich.console import Console

        from reports.sql.compare_text import print_comparison

        print_comparison(comparison, Console(), show_all=show_all)
    return 1 if comparison.regressed else 0
