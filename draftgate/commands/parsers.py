"""``draftgate parsers``: do vLLM's own parsers depend on how the tokens were cut?"""

import json
from pathlib import Path

import click

from draftgate.machine.failure import inert
from draftgate.user_path import UserPath


@click.command()
@click.argument("files", nargs=-1, type=UserPath())
@click.option("--tool-parser", "tool", help="A tool parser of the installed vLLM.")
@click.option("--reasoning-parser", "reasoning", help="A reasoning parser of the installed vLLM.")
@click.option(
    "--tokenizer",
    default="built-in",
    show_default=True,
    help="Folder or name; `built-in` has the markers of all parsers.",
)
@click.option(
    "-k",
    "--draft-tokens",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Draft tokens per step: random deltas have 1 … k + 1 tokens.",
)
@click.option(
    "--cuts", type=click.IntRange(min=0), default=60, show_default=True, help="Random cuts a text."
)
@click.option(
    "--outputs",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Most outputs of the files together; the seed draws them.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of what is drawn at random.")
@click.option(
    "--cases",
    "folder",
    type=UserPath(file_okay=False),
    help="Write a case file per failing parser into this folder.",
)
@click.option("--matrix", type=UserPath(dir_okay=False), help="Write the matrix (Markdown).")
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(
    files: tuple[Path, ...],
    tool: str | None,
    reasoning: str | None,
    tokenizer: str,
    draft_tokens: int,
    cuts: int,
    outputs: int,
    seed: int,
    folder: Path | None,
    matrix: Path | None,
    as_json: bool,
) -> int:
    """Cut the same tokens elsewhere and see whether the parse changes.

    FILES are case files, journals (*.jsonl.zst), recorded sessions (*.jsonl, *.json) or plain
    texts, parsed by the parsers named. The turns of sessions are written as the models of those
    parsers write them. What a model sent or wrote is only cut where it parses un-cut.

    Without FILES built-in samples are written in each parser's own format; without parser names
    every parser of the installed vLLM is tried. Ends with 0 where no cut changes a result, 1 where
    one does (a single delta alone, or white space, does not count), 2 where nothing could be tried.
    """
    from draftgate.parsers.check import Settings
    from draftgate.parsers.output import lines_of, write_cases, write_matrix
    from draftgate.parsers.texts import parsers_to_check
    from traces.user_paths import matching

    settings = Settings(draft_tokens + 1, cuts, seed, outputs)
    checked = []
    written: dict[str, Path] = {}
    named = [path for file in files for path in matching(file)]
    for parser in parsers_to_check(named, tool, reasoning, tokenizer, settings):
        checked.append(parser)
        click.echo(inert(f"{parser.status:9} {parser.kind} {parser.name}"), err=True)
        if folder is not None:
            written.update(write_cases([parser], folder, tokenizer, settings))
        if matrix is not None:
            write_matrix(checked, matrix, settings, written)
    if as_json:
        click.echo(json.dumps({"parsers": [parser.as_json() for parser in checked]}))
    else:
        for line in lines_of(checked):
            click.echo(line)
    if all(parser.status == "untested" for parser in checked):
        return 2
    return int(any(parser.status == "variant" for parser in checked))
