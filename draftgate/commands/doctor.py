"""``draftgate doctor``: what is missing, and how to get it."""

import json
from pathlib import Path

import click

from draftgate.machine.failure import inert
from draftgate.user_path import UserPath


@click.command()
@click.option(
    "-c",
    "--config",
    "file",
    type=UserPath(),
    help="Configuration to look at; default: draftgate.toml.",
)
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(file: Path | None, as_json: bool) -> int:
    """Would `draftgate gate` start here, with this configuration and these servers?

    Looks at what the gate looks at before its first turn: sessions, store, reference, models,
    keys, every server. Attached servers are asked a few small questions. Ends with 0 where a gate
    would start, else 2.
    """
    from draftgate.config.config import DEFAULT_FILE
    from draftgate.config.file import read_config
    from draftgate.machine.doctor import Check, machine_checks
    from draftgate.preflight.checks import config_checks
    from traces.errors import ConfigError

    checks = list(machine_checks())
    try:
        checks += config_checks(read_config(file or DEFAULT_FILE))
    except ConfigError as error:
        checks.append(Check("configuration", "missing", str(error), error.fix))
    can_run = all(check.state != "missing" for check in checks)
    if as_json:
        click.echo(json.dumps({"can_run": can_run, "checks": [c.as_json() for c in checks]}))
    else:
        for check in checks:
            fix = f"\n         fix: {check.fix}" if check.fix else ""
            click.echo(inert(f"{check.state:8} {check.name}: {check.found}{fix}"))
        click.echo("ready" if can_run else "not ready")
    return 0 if can_run else 2
