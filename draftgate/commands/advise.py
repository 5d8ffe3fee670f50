"""``draftgate advise``: where a drafter pays, and where its drafts are lost."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from checks.stats.session_interval import Estimate
from draftgate.advising import Advice
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
    from reports.sql.sql import open_sealed

    with open_sealed(db) as store:
        found = [advice for run in runs or ("last",) for advice in advise(store, run)]
    if as_json:
        click.echo(json.dumps({"advice": [advice.as_json() for advice in found]}))
        return 0
    for advice in found:
        print_advice(advice, Console(), show_all=show_all)
    return 0


UNALIGNED = "no drafted position could be aligned with its token; see `draftgate query unaligned`"


def print_advice(advice: Advice, console: Console, *, show_all: bool = False) -> None:
    """Whether it pays, by context band too, and the slices where acceptance is low."""
    arm = "" if advice.arm == "main" else f" arm {advice.arm}"
    k = "not known" if advice.ran is None else advice.ran
    share = "n/a" if advice.fallback is None else f"{advice.fallback:.0%}"
    console.print(
        Text(
            f"run {advice.run}{arm}  k = {k}, concurrency {advice.concurrency}, "
            f"{share} of steps accept or draft nothing"
        )
    )
    console.print(Text(f"measured: per turn {advice.per_turn}, per token {advice.per_token}"))
    console.print(Text(sentence(advice)))
    _print_rows(
        console,
        [(b.payoff, f"context {b.context_band}", b.speedup) for b in advice.bands],
    )
    if advice.ran is None:
        console.print(Text(f"acceptance length: {UNALIGNED}"))
        return
    shown = [one for one in advice.slices if one.low or show_all]
    where = "; by slice" if show_all else "; lower in" if shown else "; no slice is lower"
    console.print(Text(f"acceptance length {advice.length}{where}"))
    _print_rows(
        console,
        [("low" if s.low else "", f"{s.dimension} {s.slice}", s.length) for s in shown],
    )


def sentence(advice: Advice) -> str:
    """The recommendation in one sentence."""
    figures = f"speed-up per token {advice.per_token}"
    if advice.payoff == "pays":
        return f"Enable it: it pays ({figures})."
    if advice.payoff == "costs":
        return f"Leave it off: it costs ({figures})."
    decided = [f"{b.payoff} at {b.context_band}" for b in advice.bands if b.payoff != "undecided"]
    if decided:
        return f"It depends on the context: {', '.join(decided)}; over all turns the {figures}."
    if advice.per_token.low is None:
        return f"Not decided: too few sessions for an interval ({figures})."
    return f"Not decided: the interval holds 1 ({figures})."


def _print_rows(console: Console, rows: list[tuple[str, str, Estimate]]) -> None:
    table = Table(box=None, show_header=False)
    for state, name, estimate in rows:
        table.add_row(Text(f" {state}"), Text(name), Text(str(estimate)))
    if rows:
        console.print(table)
