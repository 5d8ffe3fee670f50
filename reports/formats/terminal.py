"""The summary a terminal shows at the end of a run: the verdict first, then why.

FAIL  run 20260526-0930-ab12
  ✗ GREEDY_DIVERGENCE in 2 turns
"""

from collections import Counter
from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from reports.formats.headline import faithful_states
from reports.inert import one_line
from reports.number import interval, moment, number
from reports.store.summary import Row, Summary, break_even

COLORS = {
    "pass": "green",
    "aa-pass": "cyan",
    "fail": "red",
    "inconclusive": "yellow",
    "invalid": "magenta",
}
MOST_FINDINGS = 12
NOT_APPLICABLE = "not_applicable"


def print_summary(summary: Summary, console: Console) -> None:
    """Write the summary to `console`."""
    console.print(Group(*parts(summary)))


def parts(summary: Summary) -> Iterator[RenderableType]:
    """The blocks of the summary, top to bottom."""
    run = summary.run
    color = COLORS[run["verdict"]]
    yield Text.assemble(
        (f" {run['verdict'].upper()} ", f"bold reverse {color}"),
        f"  run {one_line(run['run'])}  {moment(run['started_at'])}",
    )
    for reason in run["reasons"]:
        yield _hanging("  •", one_line(reason, 400))
    if run["power"]:
        yield _hanging(" ", one_line(run["power"], 400), style="dim")
    if run["scope"]:
        yield _hanging(" ", one_line(f"scope: {run['scope']}", 600), style="dim")
    yield _bounds(summary)
    yield from _faithful(summary)
    yield from _further(summary)
    yield from _not_applicable(summary)
    yield _controls(summary)
    yield from _findings(summary)
    if summary["boundaries"]:
        yield _acceptance(summary)
    yield _forks(summary)
    if summary["calls"]:
        yield _calls(summary)
    if len(summary["curve"]) > 1:
        yield _curve(summary)
    for note in run["notes"] or ():
        yield _hanging("Note:", one_line(note, 400))


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


def _arm(bound: Row) -> str | None:
    """The further arm a bound is about: `c16` of ``greedy_hard_regret[c16]``."""
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


def _faithful(summary: Summary) -> Iterator[Text]:
    """One line for the turns whose prompt is exact or rebuilt, where there are others too."""
    if said := faithful_states(summary):
        yield Text(f"Exact and rebuilt prompts alone: {said}")


def _not_applicable(summary: Summary) -> Iterator[Text]:
    names = [
        one_line(b["name"])
        for b in summary["bounds"]
        if b["state"] == NOT_APPLICABLE and not _arm(b)
    ]
    if names:
        yield Text(f"Bounds that do not apply: {', '.join(names)}")


def _controls(summary: Summary) -> Text:
    states = [c["state"] for c in summary["controls"]]
    counts = ", ".join(
        f"{states.count(s)} {s.replace('_', ' ')}" for s in dict.fromkeys(sorted(states))
    )
    return Text(f"Controls: {counts or 'none'}")


def _findings(summary: Summary) -> Iterator[RenderableType]:
    """Errors and warnings; flaws of both paths, and what is only information, are counted."""
    shown = [f for f in summary.pressing if not f["baseline_too"]]
    listed = shown[:MOST_FINDINGS]
    if listed:
        of_all = f"the first {len(listed)} of " if len(listed) < len(shown) else ""
        table = _table(f"Findings ({of_all}{len(shown)})", "code", "severity", "where", "what")
        table.columns[2].justify = table.columns[3].justify = "left"
        table.columns[1].no_wrap = True
        for f in listed:
            parts = [str(f[p]) for p in ("session", "turn", "token_index") if f[p] is not None]
            where, what = one_line("/".join(parts), 60), one_line(f["message"], 200)
            table.add_row(f["code"], f["severity"], Text(where, overflow="fold"), Text(what))
        yield table
    both = Counter(f["code"] for f in summary.pressing if f["baseline_too"])
    if both:
        counts = ", ".join(f"{code} x {n}" for code, n in both.items())
        yield Text(f"The baseline shows these too, so they do not count against it: {counts}")
    rest = len(summary["findings"]) - len(summary.pressing)
    if rest:
        yield Text(f"{rest} further findings are information: draftgate query findings")


def _acceptance(summary: Summary) -> Table:
    table = _table(
        "Acceptance length = 1 + Σ accepted / Σ steps with drafts",
        *("boundary", "steps", "length", "95% interval", "per-position acceptance rate"),
    )
    rows: list[Row] = [{**row, "boundary": "all"} for row in summary["acceptance"]]
    rows += summary["boundaries"]
    for a in rows:
        if a["path"] == "candidate" and a["arm"] == "main":
            length = (number(a["acceptance_length"]), interval(a["low"], a["high"]))
            table.add_row(
                a["boundary"],
                number(a["steps"]),
                *(length if a["enough"] else ("n/a", "n/a")),
                " ".join(number(c, "share") for c in a["per_position_acceptance_rates"] or ()),
            )
    return table


def _forks(summary: Summary) -> Table:
    table = _table(
        "Tokens against the baseline",
        *(
            "comparison",
            "turns",
            "judged",
            "tokens",
            "forks",
            "near ties",
            "hard",
            "largest regret",
        ),
    )
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
            interval(p["low"], p["high"]),
            number(p["token_speedup"], "×"),
            interval(p["token_low"], p["token_high"]),
            p["state"],
            number(p["ttft_speedup"], "×"),
        )
    return table


def _only_share(unit: str | None) -> str | None:
    """The unit where it changes how the number reads; else it stands beside the value alone."""
    return "share" if unit is not None and unit.startswith("share") else None
