"""``draftgate report``: a stored run, rendered again."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from draftgate.commands.answer_output import db_option, write_text
from draftgate.machine.failure import inert
from draftgate.user_path import UserPath

if TYPE_CHECKING:
    from reports.store.summary import Summary

_FILE = UserPath(dir_okay=False, allow_dash=True)


@click.command()
@click.argument("run", default="last")
@click.option("--html", type=_FILE, help="Write the HTML page here.")
@click.option("--junit", type=_FILE, help="Write JUnit XML here (`-`: standard output).")
@click.option("--markdown", type=_FILE, help="Write a pull-request comment here (`-` as above).")
@click.option("--github", is_flag=True, help="Print GitHub annotations.")
@click.option("--parquet", type=UserPath(), help="Export all rows below this folder.")
@click.option("--full", is_flag=True, help="On the terminal: the tables behind the summary too.")
@click.option("--turn", metavar="SESSION/TURN", help="The one diverging turn the HTML page shows.")
@click.option("--json", "as_json", is_flag=True, help="The whole report as one JSON object.")
@db_option
def command(
    run: str,
    html: Path | None,
    junit: Path | None,
    markdown: Path | None,
    github: bool,
    full: bool,
    parquet: Path | None,
    turn: str | None,
    as_json: bool,
    db: Path,
) -> int:
    """Render the stored RUN (an id, a beginning of one, or `last`).

    Without an option the summary is shown on the terminal; `--full` adds its tables. Ends with 0
    whatever the verdict is.
    """
    from reports.sql.sql import open_sealed
    from reports.store.summary import read_summary

    with open_sealed(db) as store:
        summary = read_summary(store, run)
        if html:
            from reports.formats.html import render_html

            _warn_of_unknown(turn, summary)
            _put("HTML", render_html(store, summary, _turn(turn), html.parent), html)
        if junit:
            from reports.formats.junit import render_junit

            _put("JUnit XML", render_junit(store, summary), junit)
        if parquet:
            from reports.store.parquet import export_run

            rows = export_run(store, summary.id, parquet)
            click.echo(inert(f"Parquet: {rows:,} rows below {parquet}"), err=True)
    if markdown:
        from reports.formats.markdown import render_markdown

        _put("Markdown", render_markdown(summary), markdown)
    if github:
        from reports.formats.github import render_github

        click.echo(render_github(summary), nl=False)
    if as_json:
        from reports.formats.json_ import render_json

        click.echo(render_json(summary), nl=False)
    if not (html or junit or markdown or github or parquet or as_json):
        from rich.console import Console

        from reports.formats.terminal import print_details, print_summary

        print_summary(summary, Console())
        if full:
            print_details(summary, Console())
    return 0


def _warn_of_unknown(turn: str | None, summary: "Summary") -> None:
    """A page without a token view would look as if nothing had diverged."""
    known = [f"{row['session']}/{row['turn']}" for row in summary["divergences"]]
    if turn is not None and turn not in known:
        shown = ", ".join(known[:3]) or "none"
        click.echo(inert(f"warning: --turn {turn}: no diverging turn; such are: {shown}"), err=True)


def _put(name: str, text: str, file: Path) -> None:
    if str(file) == "-":
        write_text(text, None)
        return
    write_text(text, file)
    click.echo(inert(f"{name}: {file}"), err=True)


def _turn(text: str | None) -> tuple[str, str] | None:
    """(session, turn) of ``SESSION/TURN``; the session may itself hold slashes."""
    if text is None:
        return None
    session, slash, turn = text.rpartition("/")
    if not slash:
        raise click.BadParameter("expected SESSION/TURN", param_hint="--turn")
    return session, turn
