"""``draftgate open``: the store in a web browser."""

import json
import webbrowser
from pathlib import Path

import click

from draftgate.commands.answer_output import db_option


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port on this machine; 0 takes any free one.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as a JSON object.")
@db_option
def command(port: int, no_browser: bool, as_json: bool, db: Path) -> int:
    """Show runs over time, their reports, and a box for SQL, in the browser.

    Serves this machine only, until Ctrl-C. Nothing is written; the store is free between two
    answers, so a gate can run meanwhile.
    """
    from draftgate.browsing import BrowserServer
    from reports.sql.sql import open_sealed

    open_sealed(db).close()
    with BrowserServer(db, port) as server:
        click.echo(json.dumps({"url": server.url}) if as_json else f"{server.url}  Ctrl-C ends it")
        if not no_browser:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0
