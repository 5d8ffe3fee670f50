"""Where one run keeps its evidence, so that it can be resumed and judged again without a server.

.draftgate/runs/20261129-150300-7f3a/
    run.json               what was planned: configuration, sessions, counts
    paths.json             what the servers said of themselves
    baseline-main-0.jsonl.zst, candidate-main-0.jsonl.zst, baseline-aa-0.jsonl.zst …  journals
    baseline-main-samples.zst …   what /metrics said while each arm ran
    baseline.log, candidate.log                                                       server logs
    scores-0.jsonl.zst     teacher-forced scores
    cases/                 one case file per finding
    report.html
"""

import fcntl
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from draftgate.judging.captures import FiledCaptures
from draftgate.judging.spool import Spool
from replay.facts.sampler import read_samples
from traces.clock import utc
from traces.collection import collector_paused
from traces.errors import InputError, Interrupted, OutputError
from traces.journal.arm import MAIN, PLAIN, SAMPLED, SERVED, VERIFY, Arm
from traces.journal.exchange import PATHS, ArmKey, Evidence, Stray, exchange_of
from traces.journal.frames import FrameReader
from traces.journal.index import JournalIndex
from traces.journal.journal import JournalReader, journal_path
from traces.output import writing
from traces.shortage import shortage

LAST = "last"
"""Stands for the run that was begun last."""

OWNER_ONLY = 0o700
"""Permissions of a run's folder: what was recorded may hold secrets."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run below `root`."""

    root: Path

    @classmethod
    def new(cls, output: Path) -> "RunFolder":
        """A fresh folder, named by time (UTC) and four random hex digits."""
        name = f"{utc():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        folder = cls(output / "runs" / name)
        with writing(folder.root):
            folder.root.parent.mkdir(parents=True, exist_ok=True)
            folder.root.mkdir(mode=OWNER_ONLY)
        return folder

    @classmethod
    def existing(cls, output: Path, run: str) -> "RunFolder":
        """The folder of the run that `run` names: an id, a unique beginning of one, or ``last``.

        Raises InputError with the ids there are.
        """
        known = sorted(p.name for p in (output / "runs").glob("*") if p.is_dir())
        named = known[-1:] if run == LAST else [name for name in known if name == run]
        named = named or [name for name in known if run and name.startswith(run)]
        if len(named) != 1:  # neither `..` nor an empty name leads elsewhere
            what = "several runs begin so" if named else "there is no such run to resume"
            shown = named if named else known
            raise InputError(
                f"{output / 'runs' / run}: {what}",
                f"runs that can be resumed: {', '.join(shown[-5:]) or 'none'}",
            )
        return cls(output / "runs" / named[0])

    @property
    def run(self) -> str:
        """The run id."""
        return self.root.name

    def journal(self, path: str, arm: str) -> Path:
        """Journal of one arm of one path."""
        return journal_path(self.root, path, arm)

    def journals(self) -> list[Path]:
        """Every journal there is."""
        files = sorted(self.root.glob("*-*-*.jsonl.zst"))
        return [file for file in files if not file.name.startswith("scores")]

    def samples(self, path: str, arm: str) -> Path:
        """What the servers' metrics said while that arm ran."""
        return self.root / f"{path}-{arm}-samples.zst"

    def log(self, path: str) -> Path:
        """Log of a launched server."""
        return self.root / f"{path}.log"

    @property
    def plan(self) -> Path:
        return self.root / "run.json"

    @property
    def paths(self) -> Path:
        return self.root / "paths.json"

    @property
    def scores(self) -> Path:
        return self.root / "scores-0.jsonl.zst"

    @property
    def cases(self) -> Path:
        return self.root / "cases"

    @property
    def report(self) -> Path:
        return self.root / "report.html"


@contextmanager
def resumable(folder: RunFolder) -> Iterator[None]:
    """Turn a KeyboardInterrupt into an `Interrupted` that says what is kept of the run; say of a
    full disk, and of a machine without memory or open files left, how to go on.

    It is the outermost context of a run, so that launched servers have been ended before. Raises
    InputError where another process is at work on the run.
    """
    try:
        with _alone(folder):
            yield
    except KeyboardInterrupt:
        kept = sum(1 for journal in folder.journals() for _ in FrameReader(journal))
        raise Interrupted(
            f"{kept} answers are kept in {folder.root}",
            f"the same command with --resume {folder.run} goes on, and sends none of them again",
        ) from None
    except Exception as error:
        found = error if isinstance(error, OutputError) else shortage(error)
        if found is None:
            raise
        resume = f"the same command with --resume {folder.run} goes on"
        raise type(found)(str(found), f"{found.fix}; then {resume}") from None


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """Hold the lock of a run's folder, which ends with the process. A file system that knows no
    such locks gives none: there the journals' own locks must do."""
    handle = os.open(folder.root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"{folder.root}: another process is at work on this run",
                    "wait until it has ended; the same command then shows its verdict",
                ) from None
        yield
    finally:
        os.close(handle)


_MAIN, _PLAIN = Arm(MAIN, 1), Arm(PLAIN, 1)

ARMS: tuple[ArmKey, ...] = (
    ("candidate", MAIN),
    ("baseline", MAIN),
    ("baseline", _MAIN.repeat_name),
    ("baseline", VERIFY),
    *((path, served) for served in SERVED for path in ("candidate", "baseline")),
    ("candidate", SAMPLED),
    ("baseline", SAMPLED),
    *_MAIN.rerun_keys,
    *_PLAIN.rerun_keys,
)
"""The arms that every run may hold; further ones are read after them."""


@collector_paused()
def add_journal(evidence: Evidence, journal: Path) -> None:
    """Add the captures of one journal; of several attempts at a turn the last one counts."""
    for number, capture in enumerate(JournalReader(journal), start=1):
        key = capture.key
        if key.path not in PATHS:
            evidence.strays.append(Stray(journal, number, key.path))
            continue
        found = evidence.arms.setdefault((key.path, key.arm), {})
        known = found.get((key.session, key.turn))
        if known is None or known.key.attempt <= key.attempt:
            found[key.session, key.turn] = exchange_of(capture)


def add_samples(evidence: Evidence | JournalIndex, folder: RunFolder) -> None:
    """Add the readings of the servers' metrics of every arm the evidence holds."""
    for path, arm in evidence.arms:
        file = folder.samples(path, arm)
        if file.exists():
            evidence.samples[path, arm] = read_samples(file)


def read_evidence(folder: RunFolder, further: Sequence[Arm] = ()) -> Evidence:
    """All arms of a run; `further` are those that not every run has."""
    evidence = Evidence()
    for path, arm in _arms(further):
        journal = folder.journal(path, arm)
        if journal.exists():
            add_journal(evidence, journal)
    add_samples(evidence, folder)
    return evidence.in_order()


def read_index(folder: RunFolder, further: Sequence[Arm] = ()) -> JournalIndex:
    """Where everything stands that `read_evidence` would read."""
    index = JournalIndex()
    for path, arm in _arms(further):
        journal = folder.journal(path, arm)
        if journal.exists():
            index.add(journal)
    add_samples(index, folder)
    return index


@contextmanager
def captures_of(folder: RunFolder, further: Sequence[Arm] = ()) -> Iterator[FiledCaptures]:
    """The captures of a run, session by session, as long as the context lasts."""
    with closing(Spool()) as spool, closing(read_index(folder, further)) as index:
        yield FiledCaptures(index, spool)


def _arms(further: Sequence[Arm]) -> tuple[ArmKey, ...]:
    return (*ARMS, *(key for one in further for key in one.keys))
