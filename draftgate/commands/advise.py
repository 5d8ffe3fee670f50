"""``draftgate advise``: where a drafter pays, and where its drafts are lost."""

from pathlib import Path

import click

from draftgate.commands.answer_output import db_option


@click.command()
@click.argument("runs", nargs=-1)
@click.option(
    "--all", "show_all", is_flag=True, help="Show every slice, not only where acceptance is low."
)
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
@db_option
def command(runs: tuple[str, ...], show_all: bool, as_json: bool, db: Path) -> int:
    """Recommend from the stored RUNS (default: the last) whether to enable the drafter.

    For every concurrency that a run replayed (`gate --arms all`): the measured speed-up, the
    context bands in which it pays or costs, and the slices whose acceptance is low, with 95%
    intervals. Another number of draft tokens is another run.
    """
    from draftgate.advising import advise
    from reports.store.store import Store

    with Store.open(db) as store:
        found = [advice for run in runs or ("last",) for advice in advise(store, run)]
    if as_json:
        import json

        click.echo(json.dumps({"advice": [advice.as_json() for advice in found]}))
        return 0
    from rich.console import Console

    from draftgate.commands.advice_text import print_advice

    for advice in found:
        print_advice(advice, Console(), show_all=show_all)
    return 0
