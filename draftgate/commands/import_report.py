"""The report of an import as a person reads it."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from traces.counted import counted

MAX_REASONS = 4


def as_table(report: Mapping[str, Any]) -> str:
    """One line per file, then totals, the sample, and what was redacted."""
    table = Table(box=None, pad_edge=False)
    for name in ("file", "format", "sessions", "turns", "replayable", "rows", "not used"):
        right = name in ("sessions", "turns", "replayable", "rows")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for file in report["files"]:
        table.add_row(
            Text(file["file"]),
            file["format"] or "unknown",
            *(str(file[key]) for key in ("sessions", "turns", "replayable", "rows")),
            Text(_not_used(file)),
        )
    console = Console(width=140, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get() + "\n".join(_lines(report))


def _not_used(file: Mapping[str, Any]) -> str:
    if file.get("reason"):
        return "; ".join(filter(None, (file["reason"], file.get("fix"))))
    return _counts(file["skipped"])


def _counts(counts: Mapping[str, int]) -> str:
    shown = [f"{reason}: {rows}" for reason, rows in list(counts.items())[:MAX_REASONS]]
    more = len(counts) - MAX_REASONS
    return ", ".join(shown) + (f", {more} more reasons" if more > 0 else "")


def _lines(report: Mapping[str, Any]) -> list[str]:
    files = report["files"]
    total = {key: sum(f[key] for f in files) for key in ("sessions", "turns", "replayable")}
    warnings = sum(len(file["warnings"]) for file in files)
    lines = [
        f"{counted(len(files), 'file')}, {counted(total['sessions'], 'session')}, "
        f"{counted(total['turns'], 'turn')}, {total['replayable']:,} replayable, "
        f"{counted(warnings, 'warning')} (see --json)"
    ]
    if "sample" in report:
        sample = report["sample"]
        lines.append(
            f"sample: {sample['turns']} of {sample['of']} turns, {sample['strata_covered']} of "
            f"{sample['strata']} strata, seed {sample['seed']}"
        )
    for kind, counts in report.get("redacted", {}).items():
        lines.append(
            f"redacted {kind}: {counted(counts['values'], 'value')}, "
            f"{counted(counts['replacements'], 'replacement')}"
        )
    if "output" in report:
        lines.append(f"wrote {report['output']}")
    return lines
