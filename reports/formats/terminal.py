"""The summary a terminal shows at the end of a run: one screen, about 40 lines of 100 columns.

     FAIL  not safe: GREEDY_DIVERGENCE x 69 and 7 other kinds of fault
     drafter eagle3, models/weights/drafter · k 3 · model draftgate-pair · vLLM 0.32.0
     26 sessions · 349 turns · 28,622 tokens

`print_details` adds the tables that do not fit: bounds, findings, forks, speed by concurrency.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from reports.formats.headline import (
    faithful_states,
    length_interval,
    served_routes,
    strip,
    verdict_words,
)
from reports.formats.next_steps import next_steps
from reports.formats.reasons import reasons
from reports.inert import one_line
from reports.number import interval, moment, number
from reports.store.summary import Row, Summary, break_even, main_acceptance
from traces.counted import counted

COLORS = {
    "pass": "green",
    "aa-pass": "cyan",
    "fail": "red",
    "inconclusive": "yellow",
    "invalid": "magenta",
}
MOST_REASONS = 3
MOST_STEPS = 3
MOST_NOTES = 1
NOT_APPLICABLE = "not_applicable"


def print_summary(summary: Summary, console: Console) -> None:
    """Write the summary to `console`: one screen."""
    console.print(Group(*parts(summary)))


def print_details(summary: Summary, console: Console) -> None:
    """Write the tables that the summary leaves out."""
    console.print(Group(*details(summary)))


def parts(summary: Summary) -> Iterator[RenderableType]:
    """The blocks of the summary, top to bottom."""
    run = summary.run
    yield Text.assemble(
        (f" {run['verdict'].upper()} ", f"bold reverse {COLORS[run['verdict']]}"),
        (f"  {one_line(verdict_words(summary))}", "bold"),
    )
    yield Text(f"run {one_line(run['run'])}  {moment(run['started_at'])}", style="dim")
    yield from _strip(dict(strip(summary)))
    if run["scope"]:
        yield _hanging(" ", one_line(f"scope: {run['scope']}", 97), style="dim")
    if routes := served_routes(summary):
        yield _hanging(" ", routes, style="dim")
    yield from _reasons(summary)
    for number_, step in enumerate(next_steps(summary)[:MOST_STEPS], 1):
        text = f"{step.text.removesuffix('.')}: {step.command}" if step.command else step.text
        yield _hanging(f" {number_}.", one_line(text, 260))
    if main_acceptance(summary, "boundaries"):
        yield _acceptance(summary)
    yield from _counted(summary)
    yield from _notes(run["notes"] or ())


def _strip(facts: dict[str, str]) -> Iterator[Text]:
    """The facts in three lines."""
    named = [f"{name} {facts[name]}" for name in ("drafter", "k", "model", "vLLM")]
    yield Text(one_line(" · ".join(named), 300))
    counted = [f"{facts[name]} {name}" for name in ("sessions", "turns", "tokens")]
    yield Text(" · ".join([*counted, f"found: {facts['found']}"]))
    yield Text(f"acceptance length {facts['acceptance length']} · speed {facts['speed']}")


def _reasons(summary: Summary) -> Iterator[RenderableType]:
    """Why, a line or two each."""
    found = reasons(summary)
    for reason in found[:MOST_REASONS]:
        head = f"{reason.head}: " if reason.head else ""
        yield _hanging("  •", f"{head}{reason.text}")
    if len(found) > MOST_REASONS:
        yield Text(f"    and {counted(len(found) - MOST_REASONS, 'more reason')}")


def _hanging(mark: str, text: str, style: str = "") -> Table:
    """`text` behind `mark`; its further lines begin below its first."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(mark, Text(text, style=style))
    return grid


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=i == 0)
    return table


def _acceptance(summary: Summary) -> Table:
    """Acceptance by boundary, without lines around it: every row counts."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    heads = (
        "boundary",
        "steps",
        "length",
        "95% interval",
        "accepted at position 1, 2 …",
    )
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i == 0 else "right", no_wrap=True)
    rows: list[Row] = [{**row, "boundary": "all"} for row in main_acceptance(summary)]
    for row in [*rows, *main_acceptance(summary, "boundaries")]:
        table.add_row(
            str(row["boundary"]),
            number(row["steps"]),
            number(row["acceptance_length"]),
            length_interval(row),
            " ".join(number(c, "share") for c in row["per_position_acceptance_rates"] or ()),
        )
    return table


def _counted(summary: Summary) -> Iterator[Text]:
    """Bounds, controls, arms and concurrency, a line each."""
    states = Counter(str(b["state"]).replace("_", " ") for b in summary["bounds"])
    planted = Counter(str(c["state"]).replace("_", " ") for c in summary["controls"])
    yield Text(f"Bounds: {_listed(states)}. Controls: {_listed(planted)}.")
    yield from _further(summary)
    if len(summary["curve"]) > 1:
        points = [
            f"{number(p['concurrency'])} sessions {number(p['token_speedup'], '×')} {p['state']}"
            for p in summary["curve"]
        ]
        yield Text(f"Speed by concurrency: {', '.join(points)}; {break_even(summary)}")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {state}" for state, n in counts.most_common()) or "none"


def _arm(bound: Row) -> str | None:
    """The further arm a bound is about: `c16` of ``greedy_regret_ladder[c16]``."""
    name = str(bound["name"])
    return one_line(name[name.index("[") + 1 : -1]) if name.endswith("]") and "[" in name else None


def _further(summary: Summary) -> Iterator[Text]:
    """One line for all further arms, each with the worst state of its bounds."""
    states: dict[str, set[str]] = {}
    for b in summary["bounds"]:
        if (arm := _arm(b)) is not None:
            states.setdefault(arm, set()).add(b["state"])
    worst = [
        f"{arm} {next((s for s in ('fail', 'inconclusive', 'pass') if s in found), 'not judged')}"
        for arm, found in states.items()
    ]
    if worst:
        yield Text(f"Further arms: {', '.join(worst)}")


def _notes(notes: Sequence[str]) -> Iterator[RenderableType]:
    for note in notes[:MOST_NOTES]:
        yield _hanging("Note:", one_line(note, 190), style="dim")
    if len(notes) > MOST_NOTES:
        yield Text(f"{counted(len(notes) - MOST_NOTES, 'more note')} in the report", style="dim")


def details(summary: Summary) -> Iterator[RenderableType]:
    """Bounds, findings, forks and speed by concurrency as tables, and all notes."""
    if summary.run["power"]:
        yield _hanging(" ", one_line(summary.run["power"], 600), style="dim")
    if summary.run["scope"]:
        yield _hanging(" ", one_line(f"scope: {summary.run['scope']}", 600), style="dim")
    yield _bounds(summary)
    if said := faithful_states(summary):
        yield Text(f"Exact and rebuilt prompts alone: {said}")
    yield from _not_applicable(summary)
    yield from _findings(summary)
    yield _forks(summary)
    if summary["calls"]:
        yield _calls(summary)
    if len(summary["curve"]) > 1:
        yield _curve(summary)
    for note in summary.run["notes"] or ():
        yield _hanging("Note:", one_line(note, 400))


def _bounds(summary: Summary) -> Table:
    table = _table("Bounds", "bound", "state", "value", "95% limits", "margin", "noise floor")
    table.columns[1].no_wrap = table.columns[3].no_wrap = True
    for b in summary["bounds"]:
        if b["state"] == NOT_APPLICABLE or (_arm(b) and b["state"] == "pass"):
            continue
        table.add_row(
            Text(one_line(b["name"])),
            b["state"],
            number(b["value"], b["unit"]),
            interval(b["low"], b["high"], b["unit"]),
            number(b["margin"], _only_share(b["unit"])),
            number(b["noise_floor"], _only_share(b["unit"])),
        )
    return table


def _not_applicable(summary: Summary) -> Iterator[Text]:
    names = [
        one_line(b["name"])
        for b in summary["bounds"]
        if b["state"] == NOT_APPLICABLE and not _arm(b)
    ]
    if names:
        yield Text(f"Bounds that do not apply: {', '.join(names)}")


def _findings(summary: Summary) -> Iterator[RenderableType]:
    """Errors and warnings; flaws of both paths, and what is only information, are counted."""
    shown = summary.pressing
    if shown:
        table = _table(f"Findings ({len(shown)})", "code", "severity", "where", "what")
        table.columns[2].justify = table.columns[3].justify = "left"
        table.columns[1].no_wrap = True
        for f in shown:
            parts = [str(f[p]) for p in ("session", "turn", "token_index") if f[p] is not None]
            where, what = one_line("/".join(parts), 60), one_line(f["message"], 200)
            table.add_row(f["code"], f["severity"], Text(where, overflow="fold"), Text(what))
        yield table
    both = Counter(f["code"] for f in summary.shared)
    if both:
        counts = ", ".join(f"{code} x {n}" for code, n in both.items())
        yield Text(f"The baseline shows these too, so they do not count against it: {counts}")
    rest = len(summary["findings"]) - len(shown) - len(summary.shared)
    if rest:
        yield Text(f"{rest} further findings are information: draftgate query findings")


def _forks(summary: Summary) -> Table:
    columns = ("comparison", "turns", "judged", "tokens", "forks", "near ties", "hard")
    table = _table("Tokens compared with the baseline's", *columns, "largest regret")
    for f in summary["forks"]:
        counts = (f[c] for c in ("turns", "judged", "tokens", "forks", "near_ties", "hard"))
        table.add_row(f["comparison"], *map(number, counts), number(f["max_regret"], "nat"))
    return table


def _calls(summary: Summary) -> Table:
    columns = ("turns", "same", "spelling", "cosmetic", "consequential")
    table = _table("Calls against the baseline: turns by what changed", "comparison", *columns)
    for c in summary["calls"]:
        table.add_row(Text(one_line(c["comparison"])), *(number(c[column]) for column in columns))
    return table


def _curve(summary: Summary) -> Table:
    table = _table(
        f"Speed by concurrency: baseline / candidate time per output token; {break_even(summary)}",
        *("concurrency", "in flight", "turns", "per turn", "95% interval", "per token"),
        *("95% interval", "", "time to first"),
    )
    for p in summary["curve"]:
        table.add_row(
            number(p["concurrency"]),
            number(p["in_flight"]),
            number(p["turns"]),
            number(p["tpot_speedup"], "×"),
            interval(p["low"], p["high"], "×"),
            number(p["token_speedup"], "×"),
            interval(p["token_low"], p["token_high"], "×"),
            p["state"],
            number(p["ttft_speedup"], "×"),
        )
    return table


def _only_share(unit: str | None) -> str | None:
    """The unit where it changes how the number reads; else it stands beside the value alone."""
    return "share" if unit is not None and unit.startswith("share") else None
