"""`draftgate` commands in a process of their own, in which something is arranged beforehand."""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftgate.cli import main
from evidence.attacks.killed_runs import SESSIONS, TURNS
from evidence.attacks.served_pair import Servers
from evidence.attacks.snapshot import Undisturbed, snapshot
from tests.support.paper.gate import LENIENT, K
from tests.support.paper.sessions import write_sessions

CONFIG = """
[run]
sessions = ["sessions.jsonl"]
output = "out"
db = "{db}"
tool_parser = "hermes"
sampled_share = 0
plain_share = 0.5
[baseline]
urls = ["{baseline}"]
[candidate]
urls = ["{candidate}"]
speculative_config = {{ method = "eagle3", num_speculative_tokens = {k} }}
[policy]
noise_tails = "light"
severity = {{ CHUNK_STALL = "info" }}
{policy}
"""

LONGEST_S = 120.0
"""No command of these takes so long; one that does hangs."""

Outputs = tuple[str, str]

OUTPUTS: Outputs = ("out.txt", "err.txt")
"""Files of a command's two outputs."""

VERDICTS = frozenset({0, 1, 3})

Before = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: `code` is negative where a signal ended it, None where it hung."""

    code: int | None
    out: str
    err: str

    @property
    def verdict(self) -> bool:
        """Whether it gave an answer."""
        return self.code in VERDICTS


def prepared(home: Path, pair: Servers, db: str = "store.duckdb") -> Path:
    """A folder with sessions and a configuration, in which a gate can be called."""
    home.mkdir(parents=True, exist_ok=True)
    write_sessions(home / "sessions.jsonl", SESSIONS, TURNS)
    policy = "\n".join(f"{key} = {value}" for key, value in LENIENT.items())
    urls = {"baseline": pair.baseline, "candidate": pair.candidate}
    text = CONFIG.format(db=db, k=K, policy=policy, **urls)
    (home / "draftgate.toml").write_text(text)
    return home


def nothing() -> None:
    """Nothing is arranged."""


def started(
    home: Path, words: list[str], before: Before = nothing, outputs: Outputs = OUTPUTS
) -> int:
    """The process of ``draftgate WORDS`` in the folder `home`; `before` is called in it first."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.chdir(home)
        for fd, name in enumerate(outputs, start=1):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), fd)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        sys.argv = ["draftgate", *words]
        before()
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
        sys.stderr.flush()
    finally:
        os._exit(code)


def ended(home: Path, child: int, outputs: Outputs = OUTPUTS) -> Ended:
    """Wait for the process; one that takes too long is killed."""
    until = time.monotonic() + LONGEST_S
    found, status = os.waitpid(child, os.WNOHANG)
    while not found and time.monotonic() < until:
        time.sleep(0.01)
        found, status = os.waitpid(child, os.WNOHANG)
    if not found:
        os.kill(child, 9)
        os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status) if found else None
    out, err = ((home / name).read_text(errors="replace") for name in outputs)
    return Ended(code, out, err)


def command(home: Path, words: list[str], before: Before = nothing) -> Ended:
    """Run one command to its end."""
    return ended(home, started(home, words, before))


def begun(home: Path) -> list[str]:
    """The runs below `home`, oldest first."""
    folders = (home / "out" / "runs").glob("*")
    return [path.name for path in sorted(folders, key=lambda path: path.stat().st_mtime_ns)]


def gate_words(home: Path) -> list[str]:
    """A gate's command line: the run that was begun goes on, else a new one begins."""
    runs = begun(home)
    return ["gate", "--json", *(["--resume", runs[-1]] if runs else [])]


def whole_run(home: Path) -> tuple[Undisturbed | None, Ended]:
    """A gate to its end, and what it left; None where it gave no verdict."""
    began = time.monotonic()
    found = command(home, gate_words(home))
    return verdict_of(home, found, time.monotonic() - began), found


def verdict_of(home: Path, found: Ended, seconds: float = 0.0) -> Undisturbed | None:
    """What a gate that ended so left below `home`; None where it gave no verdict."""
    if not found.verdict:
        return None
    said: dict[str, Any] = json.loads(found.out)
    said |= {"folder": home / "out" / "runs" / said["run"], "seconds": seconds}
    said["verdict"] = [found.code, said["verdict"], said["reasons"], said["bounds"]]
    return snapshot(home, said)
