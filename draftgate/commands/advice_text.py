"""Advice for people.

run 20260526-1  k = 3, concurrency 4, 12% of steps accept or draft nothing
measured: per turn 1.561 [1.470, 1.655], per token 1.402 [1.290, 1.520]
Enable it: it pays (speed-up per token 1.402 [1.290, 1.520]).
  costs  context 64k-128k    0.912 [0.850, 0.978]
acceptance length 2.413 [2.201, 2.625]; lower in
  low  template swe-agent    1.612 [1.420, 1.804]
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from checks.stats.session_interval import Estimate
from draftgate.advising import Advice

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
    if advice.per_token.low is None:
        return f"Not decided: too few sessions for an interval ({figures})."
    return f"Not decided: the interval holds 1 ({figures})."


def _print_rows(console: Console, rows: list[tuple[str, str, Estimate]]) -> None:
    table = Table(box=None, show_header=False)
    for state, name, estimate in rows:
        table.add_row(Text(f" {state}"), Text(name), Text(str(estimate)))
    if rows:
        console.print(table)
