"""A run as one self-contained HTML page: no script, no network, no style but its own."""

import os
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from checks.acceptance.profile import MIN_COUNT
from checks.findings import CODES
from reports.formats import tables
from reports.formats.charts import (
    acceptance_charts,
    differing_tools,
    latency_charts,
    speed_chart,
    tool_chart,
)
from reports.formats.headline import length_interval, strip, verdict_words
from reports.formats.next_steps import next_steps
from reports.formats.page import render_page
from reports.formats.reasons import reasons
from reports.formats.tables import Table
from reports.formats.token_view import MOST_TURNS, TokenView, token_views, worst_first
from reports.store.store import Store
from reports.store.summary import Row, Summary, break_even, main_acceptance

PROFILES = (
    ("The run as a whole", "slice", "acceptance", "slice", "all"),
    ("Acceptance by boundary", "boundary", "boundaries", "boundary", "boundary"),
    ("Acceptance by context length", "context", "contexts", "context_band", "context"),
    ("Acceptance by distance from a boundary", "distance", "distances", "distance", "distance"),
    ("Acceptance by prompt template", "template", "templates", "template", "template"),
)
"""Caption, first column, section of the summary, its column, and the dimension of its cells."""

MOST_REASONS = 4
SHOWN_PER_CODE = 20
MOST_METRICS = 60
MOST_CHANGED_CALLS = 40
PATH_FACTS = (
    "url",
    "launched",
    "vllm_version",
    "model",
    "max_model_len",
    "dtype",
    "method",
    "num_speculative_tokens",
    "speculative_config",
    "drafter_config",
    "tool_parser",
    "reasoning_parser",
    "block_size",
    "template_hash",
    "system_fingerprint",
    "flags",
)


def render_html(
    store: Store,
    summary: Summary,
    turn: tuple[str, str] | None = None,
    folder: Path | None = None,
) -> str:
    """The page. With `turn` = (session, turn) the token view shows that turn alone.

    `folder` is where the page will lie: its links to case files start there.
    """
    rows = worst_first(summary["divergences"])
    chosen = [r for r in rows if turn is None or (r["session"], r["turn"]) == turn]
    return page(summary, token_views(store, chosen[:MOST_TURNS]), folder)


def page(summary: Summary, views: Sequence[TokenView], folder: Path | None = None) -> str:
    """The page from a summary and the token views it shows."""
    return render_page(
        "report.html.j2",
        run=summary.run,
        s=summary.sections,
        views=views,
        single=len(views) == 1,
        link=lambda case_file: _link(case_file, folder),
        tables=tables,
        **_first_screen(summary),
        **_evidence(summary),
        **_charts(summary),
        bounds=sorted(summary["bounds"], key=lambda bound: bound["state"] == "not_applicable"),
        break_even=break_even(summary),
        profiles=_profiles(summary),
        least=MIN_COUNT,
        acceptance=next(iter(main_acceptance(summary)), None),
        lengths=_lengths(summary),
        metrics=Table("Other measured numbers", tables.METRICS, summary["metrics"][:MOST_METRICS]),
        path_facts=[f for f in PATH_FACTS if any(p[f] is not None for p in summary["paths"])],
    )


def _first_screen(summary: Summary) -> dict[str, Any]:
    """The verdict in words, the strip of facts, the reasons and what to do next."""
    return {
        "words": verdict_words(summary),
        "strip": strip(summary),
        "reasons": reasons(summary),
        "most_reasons": MOST_REASONS,
        "steps": next_steps(summary),
        "codes": {finding["code"] for finding in summary["findings"]},
    }


def _evidence(summary: Summary) -> dict[str, Any]:
    """Findings by code (against the candidate, of both paths, for information), and slices."""
    pressing = {row["ordinal"] for row in summary.pressing}
    shared = {row["ordinal"] for row in summary.shared}
    rest = [r for r in summary["findings"] if r["ordinal"] not in pressing | shared]
    differ = [row for row in summary["slices"] if _differs(row)]
    alike = [row for row in summary["slices"] if not _differs(row)]
    return {
        "pressing": _by_code(summary.pressing),
        "shared": _by_code(summary.shared),
        "rest": _by_code(rest),
        "shown_per_code": SHOWN_PER_CODE,
        "most_changed_calls": MOST_CHANGED_CALLS,
        "meanings": {name: code.meaning for name, code in CODES.items()},
        "differing_slices": Table("Slices that differ", tables.SLICES, differ),
        "other_slices": Table("The other slices", tables.SLICES, alike),
    }


def _differs(row: Row) -> bool:
    return row["verdict"] == "fail" or row["acceptance_change"] in ("lower", "higher")


def _charts(summary: Summary) -> dict[str, Any]:
    differing, alike = differing_tools(summary["tools_called"])
    return {
        "acceptance_charts": acceptance_charts(summary),
        "speed_chart": speed_chart(summary),
        "latency_charts": list(latency_charts(summary)),
        "differing_tools": tool_chart(differing),
        "other_tools": tool_chart(alike),
    }


def _profiles(summary: Summary) -> list[Table]:
    """The acceptance profile in full, one table for each dimension that has rows."""
    cells: dict[tuple[str, str, int], Row] = {
        (row["dimension"], row["slice"], row["position"]): row
        for row in main_acceptance(summary, "cells")
    }
    positions = sorted({position for _, _, position in cells})
    found = []
    for title, first, section, column, dimension in PROFILES:
        rows = [
            _profile_row(row, row[column], dimension, cells, positions)
            for row in main_acceptance(summary, section)
        ]
        at = positions if any(d == dimension for d, _, _ in cells) else []
        found.append(Table(title, tables.heat_columns(first, at), rows))
    return [table for table in found if table.rows]


def _profile_row(
    row: Row, name: str, dimension: str, cells: dict[tuple[str, str, int], Row], at: Sequence[int]
) -> Row:
    shown = {"name": name, "steps": row["steps"], "acceptance_length": row["acceptance_length"]}
    shown["interval"] = length_interval(row)
    for position in at:
        cell = cells.get((dimension, str(name), position), {})
        shown[f"c{position}"] = cell.get("conditional_acceptance")
        shown[f"c{position}_low"] = cell.get("conditional_low")
        shown[f"c{position}_high"] = cell.get("conditional_high")
        shown[f"c{position}_reached"] = cell.get("reached")
    return shown


def _lengths(summary: Summary) -> Table:
    rows = main_acceptance(summary, "lengths")
    total = sum(row["steps"] for row in rows)
    shares = [{**row, "share": row["steps"] / total} for row in rows]
    return Table("Steps by the tokens they committed", tables.LENGTHS, shares)


def _by_code(findings: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Findings grouped by code, errors first, else in report order."""
    rank = {"error": 0, "warning": 1, "info": 2}
    first: dict[str, int] = {}
    for finding in findings:
        first.setdefault(finding["code"], finding["ordinal"])
    ordered = sorted(findings, key=lambda f: (rank[f["severity"]], first[f["code"]], f["ordinal"]))
    return [(code, list(group)) for code, group in groupby(ordered, key=lambda f: str(f["code"]))]


def _link(case_file: str, folder: Path | None) -> str | None:
    """Where a page in `folder` finds the file; `None` for a path with any but plain characters.

    A plain path cannot be a URL of any scheme: ``../cases/0000-ARGS_NOT_JSON-s0-t0001.case.json``.
    """
    path = case_file if folder is None else os.path.relpath(case_file, folder)
    return path if re.fullmatch(r"[\w.][\w./-]*", path) else None
