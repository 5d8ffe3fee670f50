"""The command line: one verb per module in `draftgate.commands`.

Exit codes: 0 pass, 1 fail, 2 invalid or could not run, 3 inconclusive. Every verb takes ``--json``
for one machine-readable object on stdout; progress and logs go to stderr. An error is one message:

    error: sessions/a.jsonl: no known session format matches
    fix: write each conversation as a line {"messages": [{"role": "user", "content": "…"}, …]}
"""

import contextlib
import importlib
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from draftgate.version import VERSION

EXIT_CANNOT_RUN = 2
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141
"""What a shell says of a program that SIGPIPE has ended."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: the module of `draftgate.commands` that holds its `command`, and one line of help."""

    module: str
    help: str


VERBS: dict[str, Verb] = {
    "gate": Verb("gate", "Replay sessions on both paths, judge, store, report."),
    "record": Verb("sessions.record", "Pass agent traffic on, and record it as sessions."),
    "import": Verb("import_", "Turn recorded sessions of any known format into canonical ones."),
    "inspect": Verb("inspect", "Show what is in session files: turns, tools, tokens, labels."),
    "replay": Verb("replay", "Capture one path only, into a journal."),
    "check": Verb("check", "Judge case files, or a pair of journals, offline."),
    "parsers": Verb("parsers", "Test vLLM's own parsers for split invariance."),
    "report": Verb("report", "Render a stored run: HTML, JUnit, Markdown, JSON."),
    "sql": Verb("sql", "Run read-only SQL on the store."),
    "query": Verb("query", "Answer a named question from the store."),
    "open": Verb("start.open_", "Show runs, reports and a box for SQL in the browser."),
    "compare": Verb("compare", "Put two stored runs side by side: what got worse."),
    "advise": Verb("advise", "Where the drafter pays, and where its drafts are lost."),
    "init": Verb("init", "Write a first configuration, from sessions and endpoints."),
    "demo": Verb(
        "start.demo", "Run a first gate here, on a small model that comes with draftgate."
    ),
    "docs": Verb("start.docs", "Print a page of the documentation, or what a finding code means."),
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb asked for; of a mistyped one, the verbs that are spelled alike."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=2, cutoff=0.6)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="draftgate")
def group() -> None:
    """May this drafter be enabled for this traffic?

    Exit codes: 0 pass, 1 fail, 2 invalid or could not run, 3 inconclusive.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 1 is always an answer (``fail``)."""
    # Where vLLM is imported without a GPU it says that Triton is disabled: nothing to act upon.
    logging.getLogger("vllm.triton_utils").setLevel(logging.ERROR)
    try:
        return _run(arguments)
    except ImportError as error:
        from draftgate.machine.failure import import_failure, ran_out

        if (short := ran_out(error)) is not None:
            return _say(*short, arguments, error)
        explanation = import_failure(error)
        return (
            _say(*explanation, arguments) if explanation is not None else _fault(error, arguments)
        )
    except OSError as error:
        from draftgate.machine.failure import os_failure

        return _say(*os_failure(error), arguments, error)
    except Exception as error:
        from draftgate.machine.failure import ran_out

        short = ran_out(error)
        return _fault(error, arguments) if short is None else _say(*short, arguments, error)


def _run(arguments: Sequence[str]) -> int:
    # Not at the top: another package may stand in for `traces`, and that must be said, not raised.
    from traces.errors import DraftgateError, Interrupted, InvalidRun

    try:
        result: Any = group.main(list(arguments), prog_name="draftgate", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        _object(error.format_message(), "add --help to see how it is used", arguments)
        error.show()
        return EXIT_CANNOT_RUN
    except (click.Abort, KeyboardInterrupt) as stop:
        cause = stop.__cause__ or stop  # click makes an Abort of a KeyboardInterrupt
        if isinstance(cause, Interrupted):
            _object(str(cause), cause.fix, arguments)
            _lines("interrupted", str(cause), "resume", cause.fix)
        else:
            _object("interrupted", "", arguments)
            click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except InvalidRun as error:
        return _invalid(str(error), error.fix, arguments)
    except DraftgateError as error:
        return _say(str(error), error.fix, arguments, error)
    except SystemExit as stop:
        # How click ends a completion (0), and where the reader of a pipe has gone (`| head`); its 1
        # would mean `fail`.
        return EXIT_PIPE_CLOSED if stop.code else 0
    return result if isinstance(result, int) else 0


def _fault(error: Exception, arguments: Sequence[str]) -> int:
    from draftgate.machine.failure import fault

    return _say(*fault(error), arguments, error)


def _say(message: str, fix: str, arguments: Sequence[str], error: Exception | None = None) -> int:
    """An error on stderr, with ``--json`` as an object on stdout too."""
    from draftgate.machine.failure import inert, traceback_of

    _object(message, fix, arguments)
    if error is not None and (trace := traceback_of(error)):
        click.echo(inert(trace), err=True)
    _lines("error", message, "fix", fix)
    return EXIT_CANNOT_RUN


def _invalid(reason: str, fix: str, arguments: Sequence[str]) -> int:
    """The verdict of a run that was not begun; with ``--json`` as `gate` prints one."""
    _object(reason, fix, arguments, {"verdict": "invalid", "reasons": [reason]})
    _lines("invalid", reason, "fix", fix)
    return EXIT_CANNOT_RUN


def _object(
    message: str, fix: str, arguments: Sequence[str], verdict: Mapping[str, Any] | None = None
) -> None:
    if "--json" in arguments:
        with contextlib.suppress(OSError):  # a full disk or a closed pipe: stderr still says it
            click.echo(json.dumps({**(verdict or {}), "error": message, "fix": fix}))


def _lines(kind: str, message: str, label: str, fix: str) -> None:
    from draftgate.machine.failure import inert

    with contextlib.suppress(OSError):
        click.echo(inert(f"{kind}: {message}"), err=True)
        if fix:
            click.echo(inert(f"{label}: {fix}"), err=True)


def end_as_by_ctrl_c() -> None:
    """Let SIGTERM (a container that stops, a canceled job) and SIGHUP (a terminal that closes) end
    a run as Ctrl-C does; under `nohup` the latter stays ignored.
    """

    def interrupt(number: int, frame: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # whoever handles it now: asyncio, while it runs

    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)


def main() -> None:
    """Entry point of the console script."""
    # All that is written may hold recorded text: stores, reports, cases, logs of servers.
    os.umask(0o077)
    end_as_by_ctrl_c()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        # What is still buffered can go nowhere; Python would end with a code of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or EXIT_CANNOT_RUN
    sys.exit(code)
