"""Advice for people.

run 20260526-1  k = 3, concurrency 4, 12% of steps accept or draft nothing
measured at k = 3: per turn 1.561 [1.470, 1.655], per token 1.402 [1.290, 1.520]
Enable it with num_speculative_tokens = 2 (speed-up 1.42 [1.31, 1.54]); confirm by a run at k = 2.
  pays       template swe-agent
  costs      context 64k-128k
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from checks.acceptance.recommendation import Recommendation
from draftgate.advising import Advice


def print_advice(advice: Advice, console: Console, *, show_all: bool = False) -> None:
    """The recommendation, its slices, and the figures behind it."""
    told = advice.recommendation
    arm = "" if advice.arm == "main" else f" arm {advice.arm}"
    share = "n/a" if advice.fallback is None else f"{advice.fallback:.0%}"
    console.print(
        Text(
            f"run {advice.run}{arm}  k = {advice.ran}, concurrency {told.concurrency}, "
            f"{share} of steps accept or draft nothing"
        )
    )
    measured = f"per turn {advice.per_turn}, per token {advice.per_token}"
    console.print(Text(f"measured at k = {advice.ran}: {measured}"))
    console.print(Text(sentence(told)))
    for state in ("pays", "costs", "undecided"):
        for dimension, name in getattr(told, state):
            console.print(Text(f"  {state:10} {dimension} {name}"))
    console.print(_table(advice, show_all))


def sentence(told: Recommendation) -> str:
    """The recommendation in one sentence."""
    if told.k is None:
        return "Not decided: too few drafts for a speed-up."
    figures = f"speed-up per token {told.speedup}"
    if told.enable is False:
        return f"Leave it off: it costs at every k ({figures} at best)."
    confirm = f"; confirm by a run at k = {told.k}" if told.confirm_by_run else ""
    if told.enable is None:
        return f"Not decided: best at k = {told.k} ({figures}){confirm}."
    return f"Enable it with num_speculative_tokens = {told.k} ({figures}){confirm}."


def _table(advice: Advice, show_all: bool) -> Table:
    table = Table("slice", "k", "acceptance length", "break-even", "per token", "", box=None)
    k = advice.recommendation.k or advice.ran
    for one in advice.predictions:
        if show_all or one.k == k or one.dimension == "all":
            name = Text(one.dimension if one.dimension == "all" else f"{one.dimension} {one.slice}")
            figures = (str(one.length), str(one.break_even), str(one.speedup), one.state)
            table.add_row(name, str(one.k), *map(Text, figures))
    return table
