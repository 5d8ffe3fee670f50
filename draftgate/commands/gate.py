"""``draftgate gate``: the main job."""

from pathlib import Path

import click

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
@click.option("--baseline-url", multiple=True, help="Attach the baseline to this URL (repeatable).")
@click.option(
    "--candidate-url", multiple=True, help="Attach the candidate to this URL (repeatable)."
)
@click.option("--concurrency", type=click.IntRange(min=1), help="Sessions replayed in parallel.")
@click.option("--max-sessions", type=click.IntRange(min=1), help="Most sessions to replay.")
@click.option(
    "--arms",
    type=click.Choice(["none", "listed", "all"]),
    help="Further arms: none, those listed in the configuration, or the ready-made ones too.",
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Begin although a server does not show all that is judged; what is not judged is listed.",
)
@click.option(
    "--resume",
    metavar="RUN",
    help="Go on with an interrupted run: its id, a unique beginning of it, or last.",
)
@click.option("--db", type=UserPath(), help="The DuckDB store.")
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(
    sessions: tuple[Path, ...],
    file: Path,
    baseline_url: tuple[str, ...],
    candidate_url: tuple[str, ...],
    concurrency: int | None,
    max_sessions: int | None,
    arms: str | None,
    allow_missing: bool,
    resume: str | None,
    db: Path | None,
    as_json: bool,
) -> int:
    """Replay SESSIONS on both paths, judge, store, report.

    SESSIONS are files, folders or globs of recorded sessions; without any, those of the
    configuration are replayed. Ends with 0 pass, 1 fail, 2 invalid or could not run,
    3 inconclusive.
    """
    import json

    from draftgate.api import gate
    from draftgate.progress import reporter

    outcome = gate(
        file,
        sessions=sessions,
        baseline_urls=baseline_url,
        candidate_urls=candidate_url,
        concurrency=concurrency,
        max_sessions=max_sessions,
        arms=arms,
        allow_missing=allow_missing,
        db=db,
        resume=resume,
        reporter=reporter(),
    )
    if as_json:
        click.echo(json.dumps(outcome.as_json()))
    else:
        outcome.print_summary()
    return outcome.exit_code
