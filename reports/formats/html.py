"""A run as one self-contained HTML page: no script, no network, no style but its own.

The Content-Security-Policy of the page allows its one style sheet, by hash, and nothing else.
Recorded text is escaped by Jinja's autoescape, and characters that act are written out.
"""

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from checks.acceptance.profile import MIN_COUNT
from checks.findings import CODES
from reports.formats.token_view import MOST_TURNS, TokenView, token_views, worst_first
from reports.inert import visible
from reports.number import ABSENT, interval, moment, number
from reports.store.store import Store
from reports.store.summary import Row, Summary, break_even

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
    environment = _environment()
    css = _css(environment)
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return environment.get_template("report.html.j2").render(
        run=summary.run,
        s=summary.sections,
        views=views,
        bounds=sorted(summary["bounds"], key=lambda bound: bound["state"] == "not_applicable"),
        css=css,
        css_hash=f"sha256-{digest}",
        grouped_findings=_by_code(summary["findings"]),
        shown_per_code=SHOWN_PER_CODE,
        link=lambda case_file: _link(case_file, folder),
        meanings={name: code.meaning for name, code in CODES.items()},
        most_metrics=MOST_METRICS,
        most_changed_calls=MOST_CHANGED_CALLS,
        least=MIN_COUNT,
        break_even=break_even(summary),
        path_facts=[f for f in PATH_FACTS if any(p[f] is not None for p in summary["paths"])],
        **_acceptance(summary),
    )


def _acceptance(summary: Summary) -> dict[str, Any]:
    """What the acceptance section needs: the candidate's main arm, cells by (slice, position)."""

    def mine(section: str) -> list[Row]:
        return [r for r in summary[section] if r["path"] == "candidate" and r["arm"] == "main"]

    whole = next(iter(mine("acceptance")), None)
    cells: dict[str, dict[tuple[str, int], Row]] = {}
    for row in mine("cells"):
        cells.setdefault(row["dimension"], {})[row["slice"], row["position"]] = row
    everything = [{**whole, "name": "all"}] if whole else []
    heat = {
        name: [{**row, "name": row[column]} for row in mine(section)]
        for name, section, column in (
            ("boundary", "boundaries", "boundary"),
            ("context", "contexts", "context_band"),
            ("distance", "distances", "distance"),
            ("template", "templates", "template"),
        )
    }
    heat["boundary"] = everything + heat["boundary"]
    boundary_cells = cells.get("boundary", {}) | cells.get("all", {})
    lengths = mine("lengths")
    total = sum(row["steps"] for row in lengths)
    return {
        "acceptance": whole,
        "heat": heat,
        "cells": {"context": {}, "distance": {}} | cells | {"boundary": boundary_cells},
        "positions": sorted({position for _, position in boundary_cells}),
        "lengths": [{**row, "share": row["steps"] / total} for row in lengths],
    }


def _by_code(findings: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Findings grouped by code, errors first, else in report order."""
    rank = {"error": 0, "warning": 1, "info": 2}
    first: dict[str, int] = {}
    for finding in findings:
        first.setdefault(finding["code"], finding["ordinal"])
    ordered = sorted(findings, key=lambda f: (rank[f["severity"]], first[f["code"]], f["ordinal"]))
    return [(code, list(group)) for code, group in groupby(ordered, key=lambda f: str(f["code"]))]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reports.formats"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "text": visible,
        "number": number,
        "interval": interval,
        "moment": moment,
        "fact": _fact,
        "words": lambda name: str(name).replace("_", " "),
        "position_title": lambda position: f"#conditional, position {position}",
    }
    return environment


def _link(case_file: str, folder: Path | None) -> str | None:
    """Where a page in `folder` finds the file; `None` for a path with any but plain characters.

    A plain path cannot be a URL of any scheme: ``../cases/0000-ARGS_NOT_JSON-s0-t0001.case.json``.
    """
    path = case_file if folder is None else os.path.relpath(case_file, folder)
    return path if re.fullmatch(r"[\w.][\w./-]*", path) else None


def _css(environment: Environment) -> str:
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, "report.css")[0]


def _fact(value: Any) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return _indented(value) if isinstance(value, str) and value[:1] == "{" else str(value)


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        return text
