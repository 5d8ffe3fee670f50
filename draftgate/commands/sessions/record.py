"""``draftgate record``: pass agent traffic on, and record it as sessions."""

import json
import re
from pathlib import Path
from typing import Any

import click

from draftgate.machine.failure import inert
from draftgate.user_path import UserPath

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", re.IGNORECASE)


class Size(click.ParamType[int]):
    """``256MB`` as bytes; units are powers of 1000."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        found = SIZE.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no size; write it like 256MB or 10GB", param, ctx)
        return int(float(found[1]) * UNITS[found[2].upper()])


@click.command()
@click.option("--upstream", required=True, metavar="URL", help="The server that answers.")
@click.option(
    "--listen",
    default="127.0.0.1:8001",
    show_default=True,
    metavar="HOST:PORT",
    help="Where clients connect; port 0 takes any free one.",
)
@click.option(
    "-o",
    "--output",
    type=UserPath(),
    required=True,
    metavar="DIR",
    help="Folder of the recordings.",
)
@click.option(
    "--rate",
    type=float,
    default=1.0,
    show_default=True,
    help="Share of conversations to record, each whole or not at all.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of that draw.")
@click.option(
    "--max-bytes",
    type=Size(),
    default="10GB",
    show_default=True,
    help="Most bytes of recordings in DIR; what comes after is not recorded.",
)
@click.option(
    "--rotate",
    type=Size(),
    default="256MB",
    show_default=True,
    help="Size of a file after which new sessions go to another.",
)
@click.option(
    "--shadow",
    metavar="URL",
    help="Send copies to this second server; journals of both, not redacted, go to DIR/shadow.",
)
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(
    upstream: str,
    listen: str,
    output: Path,
    rate: float,
    seed: int,
    max_bytes: int,
    rotate: int,
    shadow: str | None,
    as_json: bool,
) -> int:
    """Pass traffic on to a server, and record it as sessions in DIR.

    \b
    draftgate record --upstream http://127.0.0.1:8000 -o recordings
    draftgate inspect recordings

    Point the agents at the address of --listen. Answers stream through unchanged. Secrets, e-mails
    and user names are replaced before anything is written; headers are not kept. Runs until Ctrl-C
    or SIGTERM and then ends with 0, also where turns were lost, which it counts; SIGUSR1 shows the
    counts so far. Ends with 2 where it cannot listen or write.
    """
    from draftgate.api import record

    def say(line: str) -> None:
        click.echo(inert(line), err=True)

    def ready(url: str) -> None:
        click.echo(inert(f"{url} passes on to {upstream}; Ctrl-C ends it"), err=True)

    tally = record(
        upstream,
        output,
        listen=listen,
        rate=rate,
        seed=seed,
        max_bytes=max_bytes,
        rotate=rotate,
        shadow=shadow,
        say=say,
        ready=ready,
    )
    if as_json:
        click.echo(json.dumps(tally.as_json()))
    else:
        for line in tally.lines():
            click.echo(line)
    return 0
