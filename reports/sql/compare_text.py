"""A comparison of two runs on the terminal."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.inert import one_line
from reports.number import interval, number
from reports.sql.compare import Comparison
from reports.store.summary import Row

COLORS = {"worse": "red", "better": "green", "changed": "yellow", "unclear": "dim", "same": "dim"}


def print_comparison(comparison: Comparison, console: Console, *, show_all: bool = False) -> None:
    """What got worse first; numbers inside the noise only with `show_all`."""
    old, new = comparison.old, comparison.new
    console.print(
        Text(
            f"{one_line(old['run'])} ({old['verdict']}) → {one_line(new['run'])} ({new['verdict']})"
        )
    )
    for row in comparison.set_up:
        console.print(Text(f"  {row['fact']}: {_shown(row['old'])} → {_shown(row['new'])}"))
    for row in comparison.codes:
        counts = f"{row['old']} → {row['new']}"
        console.print(Text(f"  {row['severity']} {one_line(row['code'])}: {counts} findings"))
    shown = [r for r in comparison.quantities if show_all or r["change"] not in ("same", None)]
    if shown:
        console.print(_table(shown))
    same = sum(row["change"] == "same" for row in comparison.quantities)
    without = sum(row["change"] is None for row in comparison.quantities)
    console.print(
        Text(f"{len(comparison.worse)} worse, {same} inside the noise, {without} without interval")
    )


def _table(rows: list[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for i, column in enumerate(("number", "slice", "old", "new", "difference (95% interval)", "")):
        table.add_column(column, justify="left" if i < 2 else "right", overflow="fold")
    for row in rows:
        change = row["change"] or "no interval"
        unit = row["unit"] if row["unit"] == "share" else None
        difference = number(row["difference"], unit)
        table.add_row(
            Text(one_line(row["name"])),
            Text(one_line(row["slice"], 40)),
            number(row["old"], unit),
            number(row["new"], unit),
            f"{difference} ({interval(row['low'], row['high'], unit)})",
            Text(change, style=COLORS.get(change, "")),
        )
    return table


def _shown(value: object) -> str:
    return one_line(str(value if value is not None else "n/a"))
