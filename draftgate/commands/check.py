"""``draftgate check``: judge case files, or the journals of a run, without a server."""

import json
from pathlib import Path

import click

from draftgate.machine.failure import inert
from draftgate.user_path import UserPath

JOURNAL = ".jsonl.zst"


@click.command()
@click.argument("files", nargs=-1, required=True, type=UserPath())
@click.option(
    "-c",
    "--config",
    type=UserPath(),
    help="Configuration whose policy judges journals; default: that of their run.",
)
@click.option("-q", "--quiet", is_flag=True, help="Only the summary.")
@click.option(
    "--allow-missing",
    is_flag=True,
    help="End with 0 although cuts were not judged because vLLM is not installed.",
)
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(
    files: tuple[Path, ...],
    config: Path | None,
    quiet: bool,
    allow_missing: bool,
    as_json: bool,
) -> int:
    """Judge case files offline, or the journals of a run.

    FILES are case files, folders of them, the folder of a run, or two journals (*.jsonl.zst), one
    of each path. Ends with 0 where every scenario passes, 1 where one fails, 2 where a file could
    not be judged, 3 where cuts need vLLM's parsers and it is not installed; journals end as `gate`
    does.
    """
    from traces.user_paths import matching

    files = tuple(path for file in files for path in matching(file))
    if any(file.name.endswith(JOURNAL) or _is_run(file) for file in files):
        from draftgate.run.offline import journals_in, judge_journals, torn_tails

        outcome = judge_journals(files, config)
        for file, size in torn_tails(journals_in(files)):
            click.echo(
                inert(f"warning: {file}: its last {size} bytes are a torn record, left out"),
                err=True,
            )
            click.echo("fix: send its turn again: draftgate gate --resume RUN", err=True)
        if as_json:
            click.echo(json.dumps(outcome.as_json()))
        else:
            outcome.print_summary()
        return outcome.exit_code
    from draftgate.case_check import case_files, check_cases

    check = check_cases(case_files(files))
    if as_json:
        click.echo(json.dumps(check.as_json(), ensure_ascii=True))
    else:
        for case in [] if quiet else check.cases:
            for line in case.lines():
                click.echo(line)
        click.echo(check.summary())
    for error in check.errors:
        click.echo(inert(f"error: {error}"), err=True)
        click.echo(inert(f"fix: {error.fix}"), err=True)
    return 0 if allow_missing and check.exit_code == 3 else check.exit_code


def _is_run(path: Path) -> bool:
    """Whether it is the folder of a run: one that holds journals."""
    return path.is_dir() and next(path.glob(f"*{JOURNAL}"), None) is not None
