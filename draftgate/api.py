"""The verbs of the command line as functions, for scripts and test suites.

    import draftgate

    outcome = draftgate.gate("draftgate.toml")
    if outcome.verdict.verdict != "pass":
        print(*outcome.verdict.reasons, sep="\\n")

Each function imports what it needs when it is called, so that ``import draftgate`` costs next to
nothing. Errors a user can fix are `draftgate.DraftgateError`: one message, and its `fix`. Nothing
is printed unless a `reporter` is given (`draftgate.progress`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from draftgate.case_check import CaseCheck
    from draftgate.config.config import Config
    from draftgate.progress import Reporter
    from draftgate.run.outcome import GateOutcome
    from draftgate.run.single import Replayed
    from replay.recording.tally import Tally
    from reports.sql.compare import Comparison
    from reports.store.store import Store
    from traces.session.session import Session

File: TypeAlias = str | PathLike[str]
Settings: TypeAlias = "File | Mapping[str, Any] | Config"
"""A configuration: the file, the same tables as a mapping, or one that was read already."""

DEFAULT_CONFIG = "draftgate.toml"
DEFAULT_DB = "draftgate.duckdb"


def gate(
    config: Settings = DEFAULT_CONFIG,
    *,
    sessions: Iterable[File] = (),
    baseline_urls: Iterable[str] = (),
    candidate_urls: Iterable[str] = (),
    concurrency: int | None = None,
    max_sessions: int | None = None,
    arms: str | None = None,
    allow_missing: bool = False,
    db: File | None = None,
    resume: str | None = None,
    reporter: "Reporter | None" = None,
) -> "GateOutcome":
    """Replay on both paths, judge, store, report: ``draftgate gate``.

        outcome = draftgate.gate("draftgate.toml", max_sessions=20)
        outcome.verdict.verdict     # "pass", "fail", "inconclusive" or "invalid"
        outcome.codes               # {"ARGS_NOT_JSON": 2}: findings at severity error
        outcome.report              # Path(".draftgate/runs/20261129-150300-7f3a/report.html")

    What is given beside `config` takes the place of its keys. `resume` names an interrupted run: an
    id, a unique beginning of one, or ``last``; what it was begun with need not be given again.
    Raises InvalidRun where the two paths compare nothing (the baseline drafts, both URLs are one
    server), another DraftgateError where the run cannot be carried out; a KeyboardInterrupt says
    what is kept of it.
    """
    from draftgate.config.overrides import overrides
    from draftgate.config.source import config_of, output_of
    from draftgate.progress import SilentReporter
    from draftgate.run.folder import RunFolder
    from draftgate.run.gate import run_gate
    from draftgate.run.run_file import begun_options

    changed = overrides(
        sessions=sessions,
        concurrency=concurrency,
        max_sessions=max_sessions,
        arms=arms,
        allow_missing=allow_missing,
        db=db,
        urls={"baseline": baseline_urls, "candidate": candidate_urls},
    )
    if resume is not None:
        changed = begun_options(RunFolder.existing(output_of(config), resume), changed)
    return run_gate(
        config_of(config, changed), reporter or SilentReporter(), resume=resume, options=changed
    )


def replay(
    path: str,
    config: Settings = DEFAULT_CONFIG,
    *,
    sessions: Iterable[File] = (),
    urls: Iterable[str] = (),
    concurrency: int | None = None,
    allow_missing: bool = False,
    resume: str | None = None,
    reporter: "Reporter | None" = None,
) -> "Replayed":
    """Capture one path (``baseline`` or ``candidate``) into a journal: ``draftgate replay``.

        replayed = draftgate.replay("candidate", "draftgate.toml")
        replayed.journal            # judge it with the other path's: draftgate.judge

    Raises DraftgateError where the path cannot be replayed.
    """
    from draftgate.config.overrides import overrides
    from draftgate.config.source import config_of
    from draftgate.progress import SilentReporter
    from draftgate.run.single import replay_path

    changed = overrides(
        sessions=sessions,
        concurrency=concurrency,
        allow_missing=allow_missing,
        urls={path: urls},
    )
    return replay_path(config_of(config, changed), path, reporter or SilentReporter(), resume)


def record(
    upstream: str,
    output: File,
    *,
    listen: str = "127.0.0.1:8001",
    rate: float = 1.0,
    seed: int = 0,
    max_bytes: int = 10_000_000_000,
    rotate: int = 256_000_000,
    shadow: str | None = None,
    say: "Callable[[str], None] | None" = None,
    ready: "Callable[[str], None] | None" = None,
) -> "Tally":
    """Pass traffic on to `upstream` and record it, until Ctrl-C or SIGTERM: ``draftgate record``.

        tally = draftgate.record("http://127.0.0.1:8000", "recordings", rate=0.1)
        tally.recorded, tally.lost      # turns

    `say` gets warnings and the status, one line each; `ready` gets the URL once it is served. Call
    it in the main thread: it handles signals. Raises DraftgateError where it cannot serve or write.
    """
    from replay.recording.serving import RecordSettings
    from replay.recording.serving import record as run
    from traces.user_paths import expanded

    def nothing(line: str) -> None:
        pass

    settings = RecordSettings(
        upstream=upstream,
        listen=listen,
        output=Path(expanded(fspath(output))),
        rate=rate,
        seed=seed,
        rotate=rotate,
        max_bytes=max_bytes,
        shadow=shadow,
    )
    return run(settings, say or nothing, ready or nothing)


def judge(*journals: File, config: File | None = None) -> "GateOutcome":
    """Judge a run without a server: its folder, or two journals, one of each path.

        outcome = draftgate.judge(".draftgate/runs/20261129-150300-7f3a")
        outcome = draftgate.judge("run/baseline-main-0.jsonl.zst", "run/candidate-main-0.jsonl.zst")

    ``draftgate check RUN_FOLDER``, or ``JOURNAL JOURNAL``. Other journals and scores that lie
    beside them are used too. `config` gives the policy; without it, what the run was begun with.
    What only a live baseline can tell counts as not judged. Raises DraftgateError where a file is
    missing or damaged.
    """
    from draftgate.run.offline import judge_journals
    from traces.user_paths import expanded, matching

    files = [path for journal in journals for path in matching(fspath(journal))]
    return judge_journals(files, None if config is None else Path(expanded(fspath(config))))


def check(*files: File) -> "CaseCheck":
    """Judge case files, or folders of them, offline: ``draftgate check``.

        found = draftgate.check("tests/cases")
        [s.judgement.codes for case in found.cases for s in case.scenarios]   # [["ARGS_NOT_JSON"]]

    A file that cannot be read is in `errors` and does not hide the others. Raises DraftgateError
    for a folder without a case file.
    """
    from draftgate.case_check import case_files, check_cases

    return check_cases(case_files([Path(fspath(file)) for file in files]))


def read_sessions(*files: File, format: str | None = None) -> "Iterator[Session]":
    """Recorded sessions of any known format, one at a time: what ``draftgate import`` reads.

        for session in draftgate.read_sessions("recordings/"):
            for turn in session.replayable_turns():
                print(session.session_id, turn.turn_id, len(session.prefix(turn)))

    `files` are files, folders or globs; a file no reader fits is warned about. Raises
    DraftgateError for a path that does not exist, and where no file holds a session.
    """
    from draftgate.recorded_sessions import read_sessions as read

    return read(files, format)


def open_store(path: File = DEFAULT_DB) -> "Store":
    """The store (a DuckDB file, or a folder of exported Parquet), read-only; close it after use.

        with draftgate.open_store("draftgate.duckdb") as store:
            store.rows("select run, verdict from v_verdict")   # [{"run": "2026…", "verdict": …}]

    The tables and views are described in docs/sql.md. Raises DraftgateError for a store that is
    missing, damaged, or written by a newer version.
    """
    from reports.sql.sql import open_sealed
    from traces.user_paths import expanded

    return open_sealed(Path(expanded(fspath(path))))


def compare(old: str, new: str = "last", *, db: File = DEFAULT_DB) -> "Comparison":
    """Two stored runs side by side, what got worse: ``draftgate compare``.

        draftgate.compare("20261101", "last").regressed     # True where a number got worse

    Runs are ids, beginnings of ids, or ``last``. Raises DraftgateError for unknown ones.
    """
    from reports.sql.compare import compare_runs

    with open_store(db) as store:
        return compare_runs(store, old, new)
