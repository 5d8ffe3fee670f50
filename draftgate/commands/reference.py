"""`docs/commands.md`, written from the commands' own help.

Run ``python -m draftgate.commands.reference`` to print it; a test compares the page with this.
"""

import click

from draftgate.cli import VERBS, group

HEAD = """# Commands

Made by `python -m draftgate.commands.reference`. `draftgate` is also `python -m draftgate`.

Exit codes: 0 pass, 1 fail, 2 invalid or could not run (bad input, bad configuration, a control not
caught), 3 inconclusive, 130 interrupted, 141 the reader of the output has gone. An error is one
message on stderr, `error: …`, with `fix: …` below it; with `--json` stdout then holds
`{"error": …, "fix": …}`. Paths that compare nothing (the baseline drafts, both URLs are one server)
are `invalid: …`, and `"verdict": "invalid"` with `"reasons"` in that object. A fault of draftgate
itself ends with 2 too; `DRAFTGATE_TRACEBACK=1` in the environment shows its traceback, which may
quote recorded text.

Ctrl-C, SIGTERM and SIGHUP (a terminal that closes; not under `nohup`) end a run cleanly: launched
servers are ended, every answer so far is kept, and the message says how to go on (`--resume RUN`).

## Completion

The shell completes verbs, options and the names of questions (`draftgate query`) after

```bash
eval "$(_DRAFTGATE_COMPLETE=bash_source draftgate)"      # bash, in ~/.bashrc
eval "$(_DRAFTGATE_COMPLETE=zsh_source draftgate)"       # zsh, in ~/.zshrc
_DRAFTGATE_COMPLETE=fish_source draftgate | source       # fish, in ~/.config/fish/config.fish
```
"""

WIDTH = 96


def reference() -> str:
    """The page: the whole ``--help`` of every verb."""
    parts = [HEAD]
    for name in VERBS:
        parts.append(f"## `draftgate {name}`\n\n```text\n{_help(name)}\n```\n")
    return "\n".join(parts)


def _help(name: str) -> str:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    context = click.Context(
        command,
        info_name=f"draftgate {name}",
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    return command.get_help(context)


if __name__ == "__main__":
    print(reference())
