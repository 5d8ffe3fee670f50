"""Whatever goes wrong in a command: one message, an object with --json, and never exit code 1."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from draftgate.cli import main, run

ROOT = Path(__file__).parents[3]


def _raises(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("draftgate.machine.doctor.machine_checks", fail)


UNEXPECTED = [
    KeyError("choices"),
    AttributeError("'list' object has no attribute 'setdefault'"),
    RecursionError("maximum recursion depth exceeded"),
    AssertionError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ExceptionGroup("many", [ValueError("one")]),
    ImportError("cannot import name 'x'"),
]

SHORT = [
    (MemoryError(), "no more memory", "ulimit -v"),
    (duckdb.OutOfMemoryException("Out of Memory Error"), "no more memory", "ulimit -v"),
    (pa.ArrowMemoryError("malloc of size 192 failed"), "no more memory", "ulimit -v"),
    (ImportError("x.so: failed to map segment from shared object"), "no more memory", "ulimit -v"),
    (RuntimeError("can't start new thread"), "no more threads", "ulimit -u"),
]


@pytest.mark.parametrize("error", UNEXPECTED, ids=lambda error: type(error).__name__)
def test_a_fault_of_draftgate_is_no_fail(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raises(monkeypatch, error)
    monkeypatch.delenv("DRAFTGATE_TRACEBACK", raising=False)
    assert run(["doctor", "--json"]) == 2
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert type(error).__name__ in answer["error"]
    # The innermost line of draftgate's own code: here the command that called what failed.
    assert "draftgate itself failed, draftgate/commands/doctor.py, line " in answer["error"]
    assert "DRAFTGATE_TRACEBACK=1" in answer["fix"]
    assert err == f"error: {answer['error']}\nfix: {answer['fix']}\n"


@pytest.mark.parametrize(("error", "what", "fix"), SHORT, ids=lambda value: type(value).__name__)
def test_a_machine_that_has_no_more_is_no_fault_of_draftgate(
    error: Exception,
    what: str,
    fix: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _raises(monkeypatch, error)
    assert run(["doctor", "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert what in answer["error"]
    assert "itself failed" not in answer["error"]
    assert fix in answer["fix"]


def test_the_traceback_is_shown_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raises(monkeypatch, KeyError("choices"))
    monkeypatch.setenv("DRAFTGATE_TRACEBACK", "1")
    assert run(["doctor"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Traceback (most recent call last):")
    assert "KeyError: 'choices'\nerror: draftgate itself failed" in err


def test_recorded_text_in_a_failure_cannot_act_on_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raises(monkeypatch, ValueError("\x1b[2J\u202egnp" + "x" * 5000 + "\n\nfix: rm -rf /"))
    monkeypatch.delenv("DRAFTGATE_TRACEBACK", raising=False)
    run(["doctor"])
    err = capsys.readouterr().err
    assert "\\x1b[2J\\u202egnp" in err
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "fix"]
    assert len(err.splitlines()[0]) < 400


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EACCES, "check the permissions"),
        (errno.ENOTDIR, "is a file"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "fix what the message names"),
    ],
)
def test_what_the_system_refuses_is_named_with_its_place(
    code: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raises(monkeypatch, OSError(code, os.strerror(code), "out/runs"))
    assert run(["doctor", "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["error"] == f"out/runs: {os.strerror(code)}"
    assert words in answer["fix"]


def test_a_wrong_option_is_an_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json", "--cofnig", "x"]) == 2
    out, err = capsys.readouterr()
    assert "--cofnig" in json.loads(out)["error"]
    assert "Usage: draftgate doctor" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_no_fail() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "draftgate", "query", "--list", "--json"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_reader_who_has_gone_is_no_fail() -> None:
    """As `draftgate query --list | head -0`."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "draftgate", "query", "--list"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_the_entry_point_ends_with_the_code_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _raises(monkeypatch, KeyError("x"))
    monkeypatch.setattr("draftgate.cli.end_as_by_ctrl_c", lambda: None)
    monkeypatch.setattr(sys, "argv", ["draftgate", "doctor"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
