"""How `sql` and `query` give their answers: shared options, and writing in the format asked for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from draftgate.machine.failure import inert
from draftgate.user_path import UserPath
from traces.errors import ConfigError
from traces.output import write_whole

if TYPE_CHECKING:
    from reports.sql.sql import Answer

DEFAULT_DB = "draftgate.duckdb"
FORMATS = ("table", "csv", "json", "parquet")

db_option = click.option(
    "--db",
    type=UserPath(),
    default=DEFAULT_DB,
    show_default=True,
    help="The DuckDB store, or a folder of exported Parquet.",
)

Command = Callable[..., Any]


def answer_options(command: Command) -> Command:
    """``--db --limit --format --json -o``, read by `give`."""
    options = (
        db_option,
        click.option(
            "--limit",
            type=click.IntRange(min=0),
            default=1000,
            show_default=True,
            help="Most rows; 0 shows all.",
        ),
        click.option(
            "--format",
            "style",
            type=click.Choice(FORMATS),
            default="table",
            show_default=True,
            help="Output format.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Same as --format json."),
        click.option(
            "-o",
            "--output",
            type=UserPath(dir_okay=False),
            help="Write to this file instead of standard output.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def give(answer: "Answer", style: str, output: Path | None) -> int:
    """Write an answer; the notice of a reached limit goes to stderr. Returns the exit code 0."""
    from reports.inert import visible_json
    from reports.sql.answer import as_csv, as_object, as_table, write_parquet

    if style == "parquet":
        if output is None:
            raise ConfigError("--format parquet needs a file", "add -o FILE.parquet")
        write_parquet(answer, output)
    elif style == "table" and output is None:
        from rich.console import Console

        console = Console()
        console.print(as_table(answer, console.width))
    elif style == "csv":
        write_text(as_csv(answer), output)
    elif style == "json":
        write_text(visible_json(json.dumps(as_object(answer), ensure_ascii=False)) + "\n", output)
    else:
        raise ConfigError("a table is for the terminal", "choose --format csv, json or parquet")
    if answer.notice:
        click.echo(inert(answer.notice), err=True)
    return 0


def write_text(text: str, output: Path | None) -> None:
    """Text to a file or, without one, to standard output."""
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
