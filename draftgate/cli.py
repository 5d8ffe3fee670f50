"""The command line: one verb per module in `draftgate.commands`.

Exit codes: 0 pass, 1 fail, 2 invalid or could not run, 3 inconclusive. Every verb takes ``--json``
for one machine-readable object on stdout; progress and logs go to stderr. An error is one message:

    error: sessions/a.jsonl: no known session format matches
    fix: see `draftgate inspect FILE` for what was tried, or convert it to chat messages
"""

import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from draftgate.version import VERSION

EXIT_CANNOT_RUN = 2
EXIT_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: the module of `draftgate.commands` that holds its `command`, and one line of help."""

    module: str
    help: str


VERBS: dict[str, Verb] = {
    "gate": Verb("gate", "Replay sessions on both paths, judge, store, report."),
    "import": Verb("import_", "Turn recorded sessions of any known format into canonical ones."),
    "inspect": Verb("inspect", "Show what is in session files: turns, tools, tokens, labels."),
    "replay": Verb("replay", "Capture one path only, into a journal."),
    "check": Verb("check", "Judge case files, or a pair of journals, offline."),
    "parsers": Verb("parsers", "Test vLLM's own parsers for split invariance."),
    "report": Verb("report", "Render a stored run: HTML, JUnit, Markdown, JSON."),
    "sql": Verb("sql", "Run read-only SQL on the store."),
    "query": Verb("query", "Answer a named question from the store."),
    "compare": Verb("compare", "Put two stored runs side by side: what got worse."),
    "advise": Verb("advise", "Where the drafter pays, and with how many draft tokens."),
    "init": Verb("init", "Write a first configuration, from sessions and endpoints."),
    "doctor": Verb("doctor", "Can this machine and this configuration run a gate?"),
}


class LazyGroup(click.Group):
    """Imports a verb's module only when that verb is asked for, so that ``--help`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        command = importlib.import_module(f"draftgate.commands.{verb.module}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="draftgate")
def group() -> None:
    """May this drafter be switched on for this traffic?

    Exit codes: 0 pass, 1 fail, 2 invalid or could not run, 3 inconclusive.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return _run(arguments)
    except ImportError as error:
        from draftgate.import_failure import explained

        told = explained(error)
        if told is None:
            raise
        return _say(*told, arguments)


def _run(arguments: Sequence[str]) -> int:
    # Not at the top: another package may stand in for `traces`, and that must be said, not raised.
    from traces.errors import DraftgateError, Interrupted

    try:
        result: Any = group.main(list(arguments), prog_name="draftgate", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return EXIT_CANNOT_RUN
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except Interrupted as stop:
        _say(str(stop), stop.fix, arguments, error="interrupted", fix="resume")
        return EXIT_INTERRUPTED
    except DraftgateError as error:
        return _say(str(error), error.fix, arguments)
    return result if isinstance(result, int) else 0


def _say(
    message: str, mend: str, arguments: Sequence[str], error: str = "error", fix: str = "fix"
) -> int:
    """An error on stderr, with ``--json`` as an object on stdout too."""
    if "--json" in arguments:
        click.echo(json.dumps({"error": message, "fix": mend}))
    click.echo(f"{error}: {message}", err=True)
    if mend:
        click.echo(f"{fix}: {mend}", err=True)
    return EXIT_CANNOT_RUN


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))
