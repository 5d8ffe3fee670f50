"""A gate that is killed and resumed, compared with one that nobody disturbed."""

import os
import pickle
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import draftgate.run.gate as gate_module
import reports.store.layout as layout
import reports.store.loading as loading
import traces.journal.frames as frames
from draftgate.config.config import Config
from draftgate.progress import SilentReporter
from draftgate.run.outcome import GateOutcome
from evidence.attacks.served_pair import Servers
from evidence.attacks.snapshot import Undisturbed, differences, snapshot
from reports.store.store import holds_run
from tests.support.paper.gate import urls_config
from tests.support.paper.sessions import write_sessions

SESSIONS, TURNS = 6, 2


@dataclass(slots=True)
class Killed:
    """`killed` holds the phase of each kill; `wrong` what differs from an undisturbed run."""

    killed: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def config_of(folder: Path, pair: Servers) -> Config:
    """As the tests have it. Stalls are left aside: the machine is busy with the next run."""
    sessions = folder / "sessions.jsonl"
    if not sessions.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_sessions(sessions, SESSIONS, TURNS)
    severity = {"CHUNK_STALL": "info"}
    run = {"plain_share": 0.5}
    return urls_config(folder, pair.baseline, pair.candidate, run, severity=severity)


def undisturbed(folder: Path, pair: Servers) -> Undisturbed:
    """A run to compare with."""
    _run(folder, pair, None, _unarmed)
    return _snapshot(folder)


def killed_run(
    folder: Path, pair: Servers, reference: Undisturbed, point: str, chance: random.Random
) -> Killed:
    """Kill a run up to three times, at the named point or at random moments, then let it end."""
    found = Killed()
    kills = 1 + (chance.random() < 0.3) + (chance.random() < 0.1)
    for number in range(kills):
        named = POINTS.get(point) if number == 0 else None
        after = None if named else chance.uniform(0.0, reference_seconds(reference))
        if not _run(folder, pair, after, partial(named, chance) if named else _unarmed):
            break
        found.killed.append(_phase(folder))
    if not _run(folder, pair, None, _unarmed):
        found.wrong += differences(_snapshot(folder), reference)
    else:
        found.wrong.append("the resumed run ended by a signal or an error")
    return found


def _unarmed() -> None:
    """Nothing kills the process from within."""


def reference_seconds(reference: Undisturbed) -> float:
    """How long the undisturbed run took."""
    return float(reference.said["seconds"])


def _run(folder: Path, pair: Servers, kill_after: float | None, arm: Callable[[], None]) -> bool:
    """One process of the gate, resumed where a run was begun; whether it was killed (or failed)."""
    config = config_of(folder, pair)
    begun = sorted(path.name for path in (folder / "out" / "runs").glob("*"))
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            arm()
            outcome = gate_module.run_gate(config, SilentReporter(), begun[-1] if begun else None)
            (folder / "outcome.pickle").write_bytes(pickle.dumps(_said(outcome, began)))
            code = 0
        except BaseException as error:
            (folder / "error.txt").write_text(f"{type(error).__name__}: {error}")
        finally:
            os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"{folder}: {(folder / 'error.txt').read_text()}")
    return os.WIFSIGNALED(status)


def _said(outcome: GateOutcome, began: float) -> dict[str, Any]:
    return {
        "run": outcome.run,
        "folder": outcome.folder,
        "store": outcome.store,
        # A store holds what the run could have seen as one text.
        "verdict": replace(outcome.verdict, power=("; ".join(outcome.verdict.power),)),
        "codes": dict(outcome.codes),
        "counts": dict(outcome.counts),
        "seconds": time.monotonic() - began,
    }


def _snapshot(folder: Path) -> Undisturbed:
    return snapshot(folder, pickle.loads((folder / "outcome.pickle").read_bytes()))


def _phase(folder: Path) -> int:
    """How far a killed run had come."""
    names = [path.name for path in (folder / "out" / "runs").glob("*/*.zst")]
    runs = [path.name for path in (folder / "out" / "runs").glob("*")]
    if any(name.startswith("scores") for name in names):
        stored = any(holds_run(folder / "store.duckdb", run) for run in runs)
        return 3 if stored or (folder / "store.duckdb").exists() else 2
    if any(name.startswith("baseline") for name in names):
        return 2
    return 1 if names else 0


def _die(*_: object, **__: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def _in_a_frame(chance: random.Random) -> None:
    """Half of a frame is on file."""
    left = chance.randrange(1, 60)
    real = os.write

    class Torn:
        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def write(self, fd: int, data: bytes) -> int:
            nonlocal left
            left -= 1
            if left <= 0:
                real(fd, data[: chance.randrange(len(data))])
                _die()
            return real(fd, data)

    frames.os = Torn()  # type: ignore[assignment]


def _at_a_rename(chance: random.Random) -> None:
    """A file is written and not yet in its place."""
    left, real = chance.randrange(1, 5), os.replace

    def replaced(*places: Any, **more: Any) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            _die()
        real(*places, **more)

    os.replace = replaced


def _in_the_schema(chance: random.Random) -> None:
    """Some tables of a new store are made."""
    place, real = chance.randrange(20), layout.table_statements

    def some() -> Any:
        for number, statement in enumerate(real()):
            if number == place:
                _die()
            yield statement

    layout.table_statements = some


def _in_a_load(chance: random.Random) -> None:
    """Some tables of the run are stored."""
    left, real = chance.randrange(1, 15), loading._insert

    def insert(*given: Any) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            _die()
        real(*given)

    loading._insert = insert


def _before_the_report(chance: random.Random) -> None:
    """The run is stored, its report is not written."""
    import draftgate.run.conclusion as conclusion

    conclusion.render_html = _die


POINTS: dict[str, Callable[[random.Random], None]] = {
    "inside a journal's frame": _in_a_frame,
    "before a rename": _at_a_rename,
    "while the store is made": _in_the_schema,
    "while the run is loaded": _in_a_load,
    "before the report": _before_the_report,
}
"""Named points; each arms the process that calls it to kill itself there."""
