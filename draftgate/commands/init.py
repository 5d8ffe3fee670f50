"""``draftgate init``: a first configuration."""

from pathlib import Path
from typing import Any

import click

from draftgate.machine.failure import inert
from draftgate.user_path import UserPath


@click.command()
@click.argument("sessions", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=UserPath(dir_okay=False),
    default="draftgate.toml",
    show_default=True,
    help="File to write.",
)
@click.option(
    "--baseline-url", "baseline_urls", multiple=True, help="Running server without the drafter."
)
@click.option(
    "--candidate-url", "candidate_urls", multiple=True, help="Running server with the drafter."
)
@click.option("--api-key-env", default="", help="Environment variable that holds the API key.")
@click.option("--model", default="", help="Model to launch, where the servers are not running.")
@click.option("--method", default="", help="Method of the drafter: eagle3, mtp, ngram …")
@click.option("--drafter", default="", help="Model of the drafter.")
@click.option(
    "-k", "--draft-tokens", type=click.IntRange(min=1), help="Draft tokens per step of the drafter."
)
@click.option("--tool-parser", default="", help="The servers' --tool-call-parser.")
@click.option("--reasoning-parser", default="", help="The servers' --reasoning-parser.")
@click.option("--tokenizer", default="", help="The servers' tokenizer: a folder or a name.")
@click.option("--no-ask", is_flag=True, help="Do not ask the endpoints what they are.")
@click.option("--force", is_flag=True, help="Overwrite the file.")
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(output: Path, no_ask: bool, force: bool, as_json: bool, **given: Any) -> int:
    """Write a commented draftgate.toml for SESSIONS (files, folders or globs) and the paths named.

    \b
    draftgate init recordings/ --baseline-url http://a:8000 --candidate-url http://b:8000
    draftgate init recordings/ --model org/target --method eagle3 --drafter org/drafter -k 3

    Endpoints are asked what they are; what they show stands beside each key, and what would make a
    run invalid is said now. What is missing is asked for on a terminal, and left open elsewhere.
    Ends with 0 where the file was written.
    """
    from draftgate.init.wanted import Wanted, asked, on_terminal
    from draftgate.init.writing import write_config

    wanted = Wanted(**given)
    if on_terminal() and not as_json:
        wanted = asked(wanted)
    written = write_config(output, wanted, ask=not no_ask, force=force)
    if as_json:
        import json

        click.echo(json.dumps(written.as_json()))
        return 0
    for warning in written.warnings:
        click.echo(inert(f"warning: {warning}"), err=True)
    for line in written.lines():
        click.echo(line)
    return 0
