"""``draftgate inspect``: what is in recorded session files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from traces.session.turn_size import TokenCounter


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--tokenizer",
    type=click.Path(path_type=Path, exists=True),
    help="tokenizer.json of the target, or its model folder; without it tokens are estimated.",
)
@click.option("--format", "format_", metavar="NAME", help="Take this format, do not recognise it.")
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
    from draftgate.commands.inspect_report import as_text
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
