"""The report of ``draftgate inspect`` as a person reads it."""

from collections.abc import Mapping
from typing import Any

from traces.counted import counted

MAX_NAMES = 8
MAX_NAME = 60

ROWS = (
    ("versions", "versions"),
    ("models", "models"),
    ("templates", "templates"),
    ("tags", "tags"),
    ("tools", "tools"),
    ("tool schemas", "tool_schemas"),
    ("output", "labels"),
    ("prefix", "fidelity"),
    ("reasoning", "reasoning"),
    ("context", "context"),
    ("not replayable", "not_replayable"),
    ("rows not used", "skipped"),
)


def as_text(report: Mapping[str, Any]) -> str:
    """A block of lines per file, then totals and the draw, if one was asked for."""
    blocks = ["\n".join(_file_lines(file)) for file in report["files"]]
    files = report["files"]
    turns, usable = (sum(file[key] for file in files) for key in ("turns", "replayable"))
    blocks.append(f"{counted(len(files), 'file')}, {counted(turns, 'turn')}, {usable:,} replayable")
    if "sample" in report:
        sample = report["sample"]
        lines = [f"{len(sample['turns'])} of {sample['of']} turns drawn, seed {sample['seed']}"]
        lines += [
            f"  {t['session']} {t['turn']}  {_plain(t['tool'])}  {t['context']}  {t['label']}"
            for t in sample["turns"]
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _file_lines(file: Mapping[str, Any]) -> list[str]:
    lines = [f"{file['file']}  [{file['format'] or 'unknown format'}]"]
    if file.get("reason"):
        lines.append(f"  nothing to replay: {file['reason']}")
        if file.get("fix"):
            lines.append(f"  fix: {file['fix']}")
        if file["format"] is None:
            if file["scores"]:
                lines.append(f"  {'looked like':<15} {_names(file['scores'])}")
            return lines
    share = f"{file['replayable'] / file['turns']:.0%}" if file["turns"] else "n/a"
    lines.append(
        f"  {counted(file['sessions'], 'session')}, {counted(file['turns'], 'turn')}, "
        f"{file['replayable']:,} replayable ({share}), {counted(file['tool_calls'], 'tool call')}, "
        f"{counted(file['rows'], 'row')}"
    )
    tokens = file["tokens"]
    about = "about " if tokens["estimated"] else ""
    lines.append(
        f"  {'tokens':<15} {about}{tokens['prompt']:,} sent, {tokens['unique']:,} of them "
        f"different, {tokens['output']:,} answered, longest prompt {tokens['longest_prompt']:,}"
    )
    for title, key in ROWS:
        if file[key]:
            lines.append(f"  {title:<15} {_names(file[key])}")
    return lines


def _names(counts: Mapping[str, Any]) -> str:
    shown = [f"{_plain(name)} {count}" for name, count in list(counts.items())[:MAX_NAMES]]
    more = len(counts) - MAX_NAMES
    return ", ".join(shown) + (f", {more} more" if more > 0 else "")


def _plain(name: str) -> str:
    """A name from a recording, which can be long and hold what steers a terminal."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in name[: MAX_NAME + 1])
    return shown if len(shown) <= MAX_NAME else f"{shown[:MAX_NAME]}…"
