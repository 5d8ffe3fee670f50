"""``draftgate import``: recorded sessions of any known format become canonical ones."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from draftgate.user_path import UserPath
from traces.counted import counted


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=UserPath(),
    help="Session file to write.",
)
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="Tag for every session.")
@click.option("--format", "format_", metavar="NAME", help="Take this format, do not recognize it.")
@click.option("--redact", is_flag=True, help="Replace secrets, e-mails and user names.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Keep N turns, stratified.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draw.")
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(
    files: tuple[str, ...],
    output: Path | None,
    tags: tuple[str, ...],
    format_: str | None,
    redact: bool,
    sample: int | None,
    seed: int,
    as_json: bool,
) -> int:
    """Read FILES (files, folders, globs, - for stdin) and say what was used and what was not.

    \b
    draftgate import ~/.claude/projects -o sessions.jsonl --redact --tag template=v7
    zcat run.jsonl.gz | draftgate import - -o sessions.jsonl

    Images and long texts are kept in a folder beside the output. Ends with 0 if a replayable
    turn was found, else 2.
    """
    from traces.errors import InputError
    from traces.importing.importer import ImportedFile, import_files
    from traces.redaction.redaction import Redactor
    from traces.redaction.session import redacted_session
    from traces.session.blobs import BlobStore
    from traces.session.file import write_sessions
    from traces.session.session import Session

    redactor = Redactor() if redact else None
    folder = output.with_name(f"{output.name}.blobs") if output and not redact else None
    imported: list[ImportedFile] = []

    def sessions() -> Iterator[Session]:
        found = import_files(files, tags=_tags(tags), blobs=BlobStore(folder), format=format_)
        for file in found:
            imported.append(file)
            for session in file.sessions:
                yield session if redactor is None else redacted_session(session, redactor)

    if output is None and sample is not None:
        raise click.UsageError("--sample needs an output file: add -o sessions.jsonl")
    if output is None:
        for _ in sessions():
            pass
    elif output.exists() and any(output.samefile(path) for path in _read_from(files)):
        raise InputError(
            f"{output}: is one of the files to read, and would be overwritten",
            "name another file with -o, outside the folders that are read",
        )
    else:
        write_sessions(sessions(), output)
    report: dict[str, Any] = {"files": [file.as_json() for file in imported]}
    if output is not None:
        report["output"] = str(output)
    if sample is not None and output is not None:
        report["sample"] = _keep_sample(output, sample, seed)
    if redactor is not None:
        report["redacted"] = redactor.report
    click.echo(json.dumps(report) if as_json else as_table(report))
    return 0 if any(file.counts.replayable for file in imported) else 2


def _read_from(files: tuple[str, ...]) -> Iterator[Path]:
    """The files that are read; standard input is none, and can be read only once."""
    from traces.importing.inputs import STDIN, expand

    return (file.path for file in expand(name for name in files if name != STDIN))


def _tags(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [tag.partition("=") for tag in given]
    wrong = [key for key, equals, value in pairs if not (key and equals and value)]
    if wrong:
        raise click.UsageError(f"--tag {wrong[0]}: write it as key=value, such as task=test-repair")
    return {key: value for key, _, value in pairs}


def _keep_sample(file: Path, size: int, seed: int) -> dict[str, Any]:
    """Rewrite a session file with a stratified draw of its turns; what was drawn."""
    from traces.session.file import read_sessions, write_sessions
    from traces.session.sampling import draw, only_drawn, strata_of

    strata = strata_of(read_sessions(file))
    drawn = draw(strata, size, seed)
    write_sessions(only_drawn(read_sessions(file), drawn, seed), file)
    covered = {strata[key] for key in drawn}
    return {
        "turns": len(drawn),
        "of": len(strata),
        "seed": seed,
        "strata": len(set(strata.values())),
        "strata_covered": len(covered),
    }


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
