"""The summary a terminal shows at the end of a run: the verdict first, then why.

FAIL  run 20260526-0930-ab12
  ✗ GREEDY_DIVERGENCE in 2 turns
"""

from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from reports.inert import one_line
from reports.number import interval, moment, number
from reports.summary import Row, Summary

COLOURS = {"pass": "green", "fail": "red", "inconclusive": "yellow", "invalid": "magenta"}
MOST_FINDINGS = 12


def print_summary(summary: Summary, console: Console) -> None:
    """Write the summary to `console`."""
    console.print(Group(*parts(summary)))


def parts(summary: Summary) -> Iterator[RenderableType]:
    """The blocks of the summary, top to bottom."""
    run = summary.run
    colour = COLOURS[run["verdict"]]
    yield Text.assemble(
        (f" {run['verdict'].upper()} ", f"bold reverse {colour}"),
        f"  run {one_line(run['run'])}  {moment(run['started_at'])}",
    )
    for reason in run["reasons"]:
        yield Text("  • " + one_line(reason, 400))
    if run["power"]:
        yield Text("  " + one_line(run["power"], 400), style="dim")
    yield _bounds(summary)
    yield _controls(summary)
    if summary["findings"]:
        yield _findings(summary)
    if summary["boundaries"]:
        yield _acceptance(summary)
    yield _forks(summary)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    return table


def _bounds(summary: Summary) -> Table:
    table = _table("Bounds", "bound", "state", "value", "95% limits", "margin", "noise floor")
    for b in summary["bounds"]:
        table.add_row(
            Text(one_line(b["name"])),
            b["state"].replace("_", " "),
            number(b["value"], b["unit"]),
            interval(b["low"], b["high"], b["unit"]),
            number(b["margin"]),
            number(b["noise_floor"]),
        )
    return table


def _controls(summary: Summary) -> Text:
    states = [c["state"] for c in summary["controls"]]
    counts = ", ".join(
        f"{states.count(s)} {s.replace('_', ' ')}" for s in dict.fromkeys(sorted(states))
    )
    return Text(f"Controls: {counts or 'none'}")


def _findings(summary: Summary) -> Table:
    findings = summary["findings"]
    title = f"Findings ({len(findings)})"
    if len(findings) > MOST_FINDINGS:
        title = f"Findings (the first {MOST_FINDINGS} of {len(findings)})"
    table = _table(title, "code", "severity", "where", "what")
    table.columns[2].justify = table.columns[3].justify = "left"
    for f in findings[:MOST_FINDINGS]:
        where = "/".join(str(f[p]) for p in ("session", "turn", "token_index") if f[p] is not None)
        table.add_row(
            f["code"], f["severity"], Text(one_line(where, 60)), Text(one_line(f["message"], 200))
        )
    return table


def _acceptance(summary: Summary) -> Table:
    table = _table(
        "Acceptance length = 1 + Σ accepted / Σ steps with drafts",
        *("boundary", "steps", "length", "95% interval", "acceptance by position"),
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
                " ".join(number(c, "share") for c in a["conditional"] or ()),
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
