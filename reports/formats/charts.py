"""Charts as plain rows with a place on a scale: the page draws them, and prints every number.

    code        ├──●──┤            1.373  1.151 … 1.595    1,639 steps

A place is a percentage of the scale's width, rounded; marks of one row are drawn on one line.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from reports.formats.headline import FEW_SESSIONS, length_interval, per_token
from reports.number import ABSENT, interval, number
from reports.store.summary import Row, Summary, main_acceptance, whole_speed

Scale = Callable[[float], float]
"""A value -> its place, 0 to 100."""

METRICS = {"ttft_ms": "time to first token", "tpot_ms": "time per output token"}


@dataclass(frozen=True, slots=True)
class Mark:
    """One estimate on the scale: its place, and that of its interval's ends where it has one."""

    place: float
    low: float | None
    high: float | None
    kind: str = "candidate"


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its label, its marks, the value as text, the interval or a note, and a count."""

    label: str
    marks: tuple[Mark, ...]
    value: str
    note: str
    count: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows on one scale: evenly spaced tick texts, and a reference place with its meaning."""

    title: str
    first: str
    lines: tuple[Line, ...]
    ticks: tuple[str, ...]
    reference: float | None = None
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Turns by time, both paths: `bars` are (left, width, baseline height, candidate height) in
    percent, `summary` the medians in words."""

    title: str
    bars: tuple[tuple[float, float, float, float], ...]
    ticks: tuple[str, ...]
    summary: str


def linear(low: float, high: float) -> Scale:
    """Places of an even scale from `low` to `high`; what lies beyond is drawn at its end."""
    return lambda value: round(100 * min(max((value - low) / (high - low), 0), 1), 1)


def logarithmic(low: float, high: float) -> Scale:
    """The same for a scale of ratios."""
    even = linear(math.log(low), math.log(high))
    return lambda value: even(math.log(max(value, low)))


def acceptance_charts(summary: Summary) -> list[Chart]:
    """Acceptance by boundary, by draft position, by context length; those that were measured."""
    whole = next(iter(main_acceptance(summary)), None)
    if whole is None:
        return []
    k = len(whole["per_position_acceptance_rates"] or ()) or 1
    found = [
        _lengths(summary, whole, k, "boundaries", "boundary", "Acceptance length by boundary"),
        _positions(summary),
        _lengths(summary, whole, k, "contexts", "context_band", "Acceptance length by context"),
    ]
    return [chart for chart in found if chart.lines]


def _lengths(summary: Summary, whole: Row, k: int, section: str, column: str, title: str) -> Chart:
    scale = linear(1, 1 + k)
    rows = main_acceptance(summary, section)
    lines = [_length_line("all", whole, scale)]
    lines += [_length_line(str(row[column]), row, scale) for row in rows]
    mean = whole["acceptance_length"]
    several = len(rows) > 1
    return Chart(
        title,
        column.split("_")[0],
        tuple(lines) if several else (),
        tuple(number(1 + i) for i in range(k + 1)),
        None if mean is None else scale(mean),
        f"Tokens per step, from 1 (no draft accepted) to {k + 1} (all {k} accepted). "
        "Dashed line: the whole run. Bar: 95% interval.",
    )


def _length_line(label: str, row: Row, scale: Scale) -> Line:
    length, sure = row["acceptance_length"], row["enough"]
    marks = () if length is None else (_mark(scale, length, *_ends(row, sure)),)
    return Line(label, marks, number(length), length_interval(row), f"{number(row['steps'])} steps")


def _ends(row: Row, sure: bool) -> tuple[float | None, float | None]:
    return (row["low"], row["high"]) if sure else (None, None)


def _mark(
    scale: Scale, value: float, low: float | None, high: float | None, kind: str = "candidate"
) -> Mark:
    if low is None or high is None:
        return Mark(scale(value), None, None, kind)
    return Mark(scale(value), scale(low), scale(high), kind)


def _positions(summary: Summary) -> Chart:
    scale = linear(0, 1)
    whole = next(iter(main_acceptance(summary)))
    lines = [
        Line(
            f"draft token {row['position'] + 1}",
            (_mark(scale, row["acceptance_rate"], *_rate_ends(row, whole["enough"])),),
            number(row["acceptance_rate"], "share"),
            interval(row["rate_low"], row["rate_high"], "share")
            if whole["enough"]
            else FEW_SESSIONS,
            f"{number(row['conditional_acceptance'], 'share')} of {number(row['reached'])} reached",
        )
        for row in main_acceptance(summary, "cells")
        if row["dimension"] == "all" and row["acceptance_rate"] is not None
    ]
    return Chart(
        "Acceptance by position in the draft",
        "position",
        tuple(lines),
        ("0%", "25%", "50%", "75%", "100%"),
        legend="Share of all drafts that accepted the token, vLLM's per-position acceptance rate. "
        "Last column: of the drafts that had all tokens before it accepted. Bar: 95% interval.",
    )


def _rate_ends(row: Row, sure: bool) -> tuple[float | None, float | None]:
    return (row["rate_low"], row["rate_high"]) if sure else (None, None)


def speed_chart(summary: Summary) -> Chart | None:
    """The speed-up per token of all turns, by concurrency where several were replayed; None where
    it was not measured."""
    whole = whole_speed(summary)
    if whole is None or whole["token_speedup"] is None:
        return None
    curve = summary["curve"] if len(summary["curve"]) > 1 else []
    rows = [("this run", whole)] if not curve else [(_point(row), row) for row in curve]
    ends = [v for _, r in rows for v in (r["token_speedup"], r["token_low"], r["token_high"]) if v]
    reach = max(1.5, *(max(v, 1 / v) for v in ends)) * 1.05
    scale = logarithmic(1 / reach, reach)
    lines = [
        Line(
            label,
            (_mark(scale, row["token_speedup"], row["token_low"], row["token_high"]),),
            number(row["token_speedup"], "×"),
            per_token(row).partition("(")[2].rstrip(")"),
            f"{number(row['turns'])} turns",
        )
        for label, row in rows
        if row["token_speedup"]
    ]
    return Chart(
        "Speed-up per output token" + (", by concurrency" if curve else ""),
        "concurrency" if curve else "run",
        tuple(lines),
        (number(1 / reach, "×"), "1×", number(reach, "×")),
        scale(1.0),
        "Baseline's time over the candidate's: right of the dashed line the candidate is faster. "
        "Bar: 95% interval.",
    )


def _point(row: Row) -> str:
    arm = "" if row["arm"] == "main" else f" ({row['arm']})"
    return f"{number(row['concurrency'])} sessions{arm}"


def latency_charts(summary: Summary) -> Iterator[Histogram]:
    """The distribution of both times over turns, both paths on one scale."""
    medians = {
        (row["name"], row["path"]): row["value"]
        for row in summary["metrics"]
        if row["dimension"] == "all"
    }
    for metric, title in METRICS.items():
        rows = [row for row in summary["latencies"] if row["metric"] == metric]
        if not rows:
            continue
        first, last = min(r["bin"] for r in rows), max(r["bin"] for r in rows) + 1
        most = max(r["turns"] for r in rows)
        height = {(r["path"], r["bin"]): round(100 * r["turns"] / most, 1) for r in rows}
        width = 100 / (last - first)
        bars = tuple(
            (
                round((at - first) * width, 2),
                round(width, 2),
                height.get(("baseline", at), 0.0),
                height.get(("candidate", at), 0.0),
            )
            for at in range(first, last)
        )
        start, end = min(r["from_ms"] for r in rows), max(r["to_ms"] for r in rows)
        ends = (start, math.sqrt(start * end), end)
        said = " and ".join(
            f"{path} {_ms(medians.get((metric, path)))}" for path in ("baseline", "candidate")
        )
        yield Histogram(
            title[0].upper() + title[1:],
            bars,
            tuple(_ms(at) for at in ends),
            f"Median of the turns: {said}. The highest bar is {number(most)} turns.",
        )


def _ms(value: float | None) -> str:
    """``7.1 ms``, ``82 ms``, ``1,204 ms``: a client's clock is no finer."""
    if value is None:
        return ABSENT
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"


def tool_chart(rows: Iterable[Row]) -> Chart | None:
    """Calls a client can run, by tool, on both paths; None where no tool was called.

    `rows` are those of `tools_called` for the tools that are shown.
    """
    by_tool: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_tool.setdefault(str(row["tool"]), {})[row["path"]] = row
    scale = linear(0, 1)
    lines = tuple(_tool_line(tool, paths, scale) for tool, paths in sorted(by_tool.items()))
    legend = "Share of the calls that parse, name a known tool and satisfy its schema. "
    legend += "Thick: candidate; thin: baseline."
    return (
        Chart("Usable tool calls", "tool", lines, ("0%", "50%", "100%"), None, legend)
        if lines
        else None
    )


def _tool_line(tool: str, paths: dict[str, Row], scale: Scale) -> Line:
    marks = [
        _mark(scale, row["usable"] / row["calls"], None, None, path)
        for path, row in sorted(paths.items())
    ]
    said = {
        path: f"{number(row['usable'])} of {number(row['calls'])}" for path, row in paths.items()
    }
    return Line(
        tool,
        tuple(marks),
        said.get("candidate", "not called"),
        f"baseline {said.get('baseline', 'not called')}",
        "",
    )


def differing_tools(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """(rows of tools whose calls differ between the paths, rows of all others)."""
    seen: dict[str, set[tuple[int, int]]] = {}
    for row in rows:
        seen.setdefault(row["tool"], set()).add((row["calls"], row["usable"]))
    paths = {tool: sum(r["tool"] == tool for r in rows) for tool in seen}
    differ = {tool for tool, counts in seen.items() if len(counts) > 1 or paths[tool] < 2}
    return [r for r in rows if r["tool"] in differ], [r for r in rows if r["tool"] not in differ]
