"""Failures that no command has explained, in words. What may be needed before
draftgate's own packages can be imported uses the standard library alone.

    error: out/runs: No space left on device
    fix: free some space on that disk, or name a place on another one

Anything else is a fault of draftgate itself, and says so; the traceback is for its developers, and
may quote recorded text, so it is shown only where ``DRAFTGATE_TRACEBACK=1`` asks for it.
"""

import os
import re
import traceback
from pathlib import Path

from draftgate.machine.shadowing import FIX, shadows

TRACEBACK = "DRAFTGATE_TRACEBACK"
"""Environment variable; any value but the empty one shows the traceback of a failure."""

LONGEST = 300
"""Characters of an exception's own words that are shown."""

EXTRAS = {
    "vllm": "pip install 'draftgate[vllm]' on a GPU host, 'draftgate[cpu]' on another machine",
}
"""Packages some verbs need and the plain install leaves out, with what gets them."""

_ACTING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def import_failure(error: ImportError) -> tuple[str, str] | None:
    """(what is wrong with an import, how to fix it); `None` for a fault of this program."""
    found = [str(shadow) for shadow in shadows()]
    if found:
        return f"{'; '.join(found)} ({error})", FIX
    package = (error.name or "").split(".")[0]
    if isinstance(error, ModuleNotFoundError) and package in EXTRAS:
        return f"this needs the package {package}, which is not installed", EXTRAS[package]
    return None


def ran_out(error: Exception) -> tuple[str, str] | None:
    """(what this machine has no more of, how to fix it); `None` for an error of another kind."""
    try:
        from traces.shortage import shortage
    except ImportError:  # another package stands in for `traces`
        return None
    found = shortage(error)
    return None if found is None else (str(found), found.fix)


def os_failure(error: OSError) -> tuple[str, str]:
    """(what the system refused and where, how to fix it)."""
    # Not at the top: another package may stand in for `traces` where something else failed.
    from traces.output import fix_of

    names = [
        os.fsdecode(n) for n in (error.filename, error.filename2) if isinstance(n, str | bytes)
    ]
    where = " -> ".join(names) or _place(error)
    return _plain(f"{where}: {error.strerror or error}"), fix_of(error)


def fault(error: Exception) -> tuple[str, str]:
    """(what happened, where to go with it) of a failure that is no user's doing."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        _plain(f"draftgate itself failed, {_place(error)}: {what}"),
        f"run it again with {TRACEBACK}=1 and report the message and traceback to draftgate's "
        "maintainers (read it first: it may quote recorded text)",
    )


def traceback_of(error: Exception) -> str:
    """The traceback where it is asked for, else nothing."""
    if not os.environ.get(TRACEBACK):
        return ""
    return "".join(traceback.format_exception(error)).rstrip()


def _place(error: BaseException) -> str:
    """``draftgate/run/pairs.py, line 33``: the innermost line of draftgate's own code."""
    root = Path(__file__).resolve().parents[2]
    rooms = ("draftgate", "traces", "replay", "checks", "reports")
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(tuple(f"{root / room}{os.sep}" for room in rooms))
    ]
    if not frames:
        return "outside its own code"
    return f"{Path(frames[-1].filename).relative_to(root)}, line {frames[-1].lineno}"


def inert(text: str) -> str:
    """`text` without what a terminal would obey; lines and tabs stay. Servers' words and recorded
    text reach messages.
    """
    return _ACTING.sub(
        lambda found: found[0] if found[0] in "\n\t" else _written_out(found[0]), text
    )


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _plain(text: str) -> str:
    """One line, shortened, without characters that act on a terminal."""
    text = _ACTING.sub(lambda found: _written_out(found[0]), text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
