"""``draftgate replay``: capture one path only, into a journal."""

import json
from pathlib import Path

import click

from draftgate.machine.failure import inert
from draftgate.user_path import UserPath


@click.command()
@click.argument("sessions", nargs=-1, type=UserPath())
@click.option(
    "-c",
    "--config",
    "file",
    type=UserPath(),
    default="draftgate.toml",
    show_default=True,
    help="Configuration.",
)
@click.option(
    "--path",
    type=click.Choice(("baseline", "candidate")),
    required=True,
    help="The path to capture.",
)
@click.option("--url", multiple=True, help="Attach to this URL (repeatable).")
@click.option("--concurrency", type=click.IntRange(min=1), help="Sessions replayed side by side.")
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Begin although a server does not show all that is judged; what is not judged is listed.",
)
@click.option(
    "--resume",
    metavar="RUN",
    help="Add to the folder of this run: its id, a unique beginning of it, or last.",
)
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(
    sessions: tuple[Path, ...],
    file: Path,
    path: str,
    url: tuple[str, ...],
    concurrency: int | None,
    allow_missing: bool,
    resume: str | None,
    as_json: bool,
) -> int:
    """Capture SESSIONS on one path.

    The journal of the other path may be taken elsewhere, at another time; `draftgate check` judges
    the two together. Ends with 0 where every turn was answered, 2 where the path could not be
    replayed.
    """
    from draftgate.api import replay as capture
    from draftgate.progress import reporter

    replayed = capture(
        path,
        file,
        sessions=sessions,
        urls=url,
        concurrency=concurrency,
        allow_missing=allow_missing,
        resume=resume,
        reporter=reporter(),
    )
    if as_json:
        click.echo(json.dumps(replayed.as_json()))
    else:
        click.echo(f"{replayed.answered} turns answered, {replayed.failed} without an answer")
        click.echo(inert(f"journal {replayed.journal}"))
    return 0 if not replayed.failed else 2
