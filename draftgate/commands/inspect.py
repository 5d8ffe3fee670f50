"""``draftgate inspect``: what is in recorded session files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from draftgate.user_path import UserPath
from traces.counted import counted

if TYPE_CHECKING:
    from traces.session.turn_size import TokenCounter


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--tokenizer",
    type=UserPath(exists=True),
    help="tokenizer.json of the target, or its model folder; without it tokens are estimated.",
)
@click.option("--format", "format_", metavar="NAME", help="Take this format, do not recognize it.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Draw N turns, stratified.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draw.")
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(
    files: tuple[str, ...],
    tokenizer: Path | None,
    format_: str | None,
    sample: int | None,
    seed: int,
    as_json: bool,
) -> int:
    """Show formats, versions, turns, tools, tokens and context lengths of FILES.

    A turn is one response of a model.

    \b
    draftgate inspect logs/ --tokenizer models/target
    draftgate inspect run.jsonl --sample 50 --json

    Ends with 0 if a replayable turn was found, else 2.
    """
    from traces.importing.importer import import_files
    from traces.importing.inspection import inspect_file

    count = _counter(tokenizer)
    facts = [inspect_file(file, count) for file in import_files(files, format=format_)]
    report: dict[str, Any] = {"files": [fact.as_json() for fact in facts]}
    if sample is not None:
        report["sample"] = _drawn(files, format_, count, sample, seed)
    click.echo(json.dumps(report) if as_json else as_text(report))
    return 0 if any(fact.file.counts.replayable for fact in facts) else 2


def _counter(tokenizer: Path | None) -> "TokenCounter | None":
    from traces.errors import InputError
    from traces.session.turn_size import tokenizer_counter

    if tokenizer is None:
        return None
    try:
        return tokenizer_counter(str(tokenizer))
    except ImportError as error:
        raise InputError(
            "--tokenizer needs the package tokenizers", "pip install tokenizers, or leave it out"
        ) from error
    except Exception as error:
        raise InputError(
            f"{tokenizer}: no readable tokenizer", "name tokenizer.json or its folder"
        ) from error


def _drawn(
    files: tuple[str, ...], format_: str | None, count: "TokenCounter | None", size: int, seed: int
) -> dict[str, Any]:
    """A draw of turns, with the stratum of each."""
    from traces.errors import InputError
    from traces.importing.importer import import_files
    from traces.session.sampling import draw, strata_of
    from traces.session.turn_size import estimated_tokens

    if "-" in files:
        raise InputError(
            "--sample reads its input twice, standard input comes once",
            "write it to a file, or use `draftgate import - -o sessions.jsonl --sample N`",
        )
    found = import_files(files, format=format_)
    strata = strata_of((s for file in found for s in file.sessions), count or estimated_tokens)
    turns = sorted(draw(strata, size, seed))
    return {
        "seed": seed,
        "of": len(strata),
        "turns": [
            {
                "session": key[0],
                "turn": key[1],
                "tool": strata[key].tool,
                "context": strata[key].band,
                "label": strata[key].label,
            }
            for key in turns
        ],
    }


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
