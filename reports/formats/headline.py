"""The numbers of a run that every report shows, as text, for reports that have no tables."""

from collections.abc import Iterator

from reports.number import interval, number
from reports.store.summary import Row, Summary


def headline(summary: Summary) -> Iterator[tuple[str, str]]:
    """(name, text): ``("acceptance length", "2.413 (2.301 … 2.522)")``, where it was measured."""
    for row in summary["acceptance"]:
        if row["path"] == "candidate" and row["arm"] == "main":
            limits = interval(row["low"], row["high"])
            yield "acceptance length", f"{number(row['acceptance_length'])} ({limits})"
    for row in summary["speedup"]:
        if row["context_band"] is None:
            yield "time per output token, speed-up", both_speedups(row)
    if summary.run["scope"]:
        yield "scope", str(summary.run["scope"])
    if said := faithful_states(summary):
        yield "exact and rebuilt prompts alone", said


def faithful_states(summary: Summary) -> str:
    """``greedy_regret_rate pass, tool_success inconclusive``: the bounds of exact and rebuilt
    prompts alone; empty where all replayed prompts are."""
    found = [b for b in summary["faithful"] if b["state"] != "not_applicable"]
    return ", ".join(f"{b['name']} {b['state']}" for b in found)


def both_speedups(row: Row) -> str:
    """``per turn 1.05× (0.97 … 1.14), per token 0.79× (0.72 … 0.86)`` of a row with both."""
    turn, token = (number(row[name], "×") for name in ("tpot_speedup", "token_speedup"))
    return (
        f"per turn {turn} ({interval(row['low'], row['high'])}), "
        f"per token {token} ({interval(row['token_low'], row['token_high'])})"
    )


def bound_numbers(bound: Row) -> str:
    """``0.002% of tokens (0.0% … 0.004%), margin 0.01%, noise floor 0.001%`` of a bound."""
    unit = bound["unit"]
    value = f"{number(bound['value'], unit)} ({interval(bound['low'], bound['high'], unit)})"
    margin, floor = (number(bound[name], unit) for name in ("margin", "noise_floor"))
    return f"{value}, margin {margin}, noise floor {floor}"
