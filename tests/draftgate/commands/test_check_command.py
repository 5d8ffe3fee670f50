"""`draftgate check` on case files: what it prints, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from draftgate.cli import run
from tests.support.cases import FOLDER

GOOD: dict[str, Any] = {
    "name": "good",
    "request": {"stream_options": {"include_usage": True}},
    "baseline": {"message": {"content": "ok"}, "finish_reason": "stop"},
    "candidate": {
        "chunks": [
            {"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
        ],
        "done": True,
    },
    "expected": {"verdict": "pass", "codes": []},
}
BAD = GOOD | {
    "name": "bad",
    "candidate": GOOD["candidate"] | {"done": False},
    "expected": {"verdict": "fail", "codes": ["STREAM_NO_DONE"]},
}


def write(folder: Path, name: str, *scenarios: dict[str, Any]) -> Path:
    file = folder / name
    file.write_text(json.dumps({"case": 1, "kind": "k", "scenarios": list(scenarios)}))
    return file


def test_json_shape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, "a.json", BAD, GOOD)
    assert run(["check", str(file), "--json"]) == 1
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert (case["file"], case["kind"]) == (str(file), "k")
    bad, good = case["scenarios"]
    assert (bad["name"], bad["verdict"], bad["codes"]) == ("bad", "fail", ["STREAM_NO_DONE"])
    assert bad["findings"][0]["code"] == "STREAM_NO_DONE"
    assert (good["verdict"], good["codes"], good["findings"]) == ("pass", [], [])
    assert {"code", "reason"} == set(good["not_judged"][0])


def test_a_folder_is_its_case_files_and_all_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "a.json", GOOD)
    write(tmp_path, "b.case.json", GOOD)
    assert run(["check", str(tmp_path)]) == 0
    assert "2 cases, 2 scenarios: 0 fail, 2 pass" in capsys.readouterr().out


def test_one_broken_file_does_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "a.json", BAD)
    write(tmp_path, "b.json", GOOD | {"candidat": {}})
    assert run(["check", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "STREAM_NO_DONE" in printed.out
    assert "b.json: scenario 'good': candidat is not a known field" in printed.err
    assert "fix: rename it to `candidate`" in printed.err


def test_an_unknown_expected_code_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "a.json", GOOD | {"expected": {"verdict": "fail", "codes": ["NO_SUCH"]}})
    assert run(["check", str(tmp_path)]) == 2
    assert "NO_SUCH" in capsys.readouterr().err


def test_another_verdict_than_expected_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "a.json", BAD | {"expected": {"verdict": "pass", "codes": []}})
    assert run(["check", str(tmp_path)]) == 1
    assert "the file expects: pass, no code" in capsys.readouterr().out


def test_what_a_terminal_would_obey_is_spelled_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunks = [{"error": {"message": "\x1b]0;owned\x07\x1b[2J"}}]
    write(tmp_path, "a.json", GOOD | {"candidate": {"chunks": chunks, "done": True}})
    assert run(["check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b]0;owned" in out


@pytest.mark.parametrize("name", ["missing.json", "empty"])
def test_files_that_are_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    assert run(["check", str(tmp_path / name)]) == 2


def test_the_project_s_own_cases_end_with_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "draftgate", "check", str(FOLDER / "kinds"), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    for case in json.loads(done.stdout)["cases"]:
        for scenario in case["scenarios"]:
            assert scenario["codes"] == scenario["expected"], case["file"]


CUT: dict[str, Any] = GOOD | {
    "context": {"tool_parser": "hermes", "tokenizer": "somewhere", "cuts": [[1]]},
}


@pytest.fixture
def no_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_vllm")
def test_cuts_that_need_vllm_are_not_judged_without_it_and_that_is_no_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(write(tmp_path, "a.json", CUT, GOOD))
    assert run(["check", file]) == 3
    out = capsys.readouterr().out
    assert "SPLIT_VARIANT: not judged: vLLM, whose parsers are needed, is not importable" in out
    assert "2 pass; the cuts of 1 scenario not judged without vLLM" in out
    assert run(["check", file, "--allow-missing"]) == 0
    bad = str(write(tmp_path, "bad.json", CUT, BAD))
    assert run(["check", bad]) == run(["check", bad, "--allow-missing"]) == 1
    assert run(["check", str(write(tmp_path, "plain.json", GOOD))]) == 0
