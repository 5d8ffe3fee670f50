"""``draftgate import`` and ``draftgate inspect`` on small files."""

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from draftgate.cli import run
from tests.support.paper.sessions import write_sessions
from traces.session.file import read_sessions

CHAT = {
    "messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "I am jane@corp.example, key AKIAIOSFODNN7EXAMPLQ"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "more"},
        {"role": "assistant", "content": "end"},
    ]
}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps(CHAT) + "\nnot json\n")
    return file


def answer(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, Any]:
    code = run([str(argument) for argument in arguments] + ["--json"])
    return code, json.loads(capsys.readouterr().out)


def test_import_writes_canonical_sessions(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.jsonl"
    code, report = answer(capsys, "import", recording, "-o", output, "--tag", "task=greet")
    assert code == 0
    (file,) = report["files"]
    counts = {key: file[key] for key in ("format", "sessions", "turns", "replayable", "rows")}
    assert counts == {
        "format": "chat-messages",
        "sessions": 1,
        "turns": 2,
        "replayable": 2,
        "rows": 2,
    }
    assert file["tool_calls"] == 0
    assert file["skipped"] == {"torn_tail": 1}
    assert file["warnings"] == [{"code": "torn_tail", "row": 2, "detail": ""}]
    (session,) = read_sessions(output)
    assert session.tags == {"task": "greet"}


def test_redaction_is_reported(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.jsonl"
    code, report = answer(capsys, "import", recording, "-o", output, "--redact")
    assert code == 0
    assert report["redacted"] == {
        "aws-key": {"values": 1, "replacements": 1},
        "email": {"values": 1, "replacements": 1},
    }
    assert "jane" not in output.read_text()
    assert "AKIA" not in output.read_text()


def test_a_sample_is_drawn(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.jsonl"
    code, report = answer(capsys, "import", recording, "-o", output, "--sample", "1", "--seed", "3")
    assert code == 0
    assert report["sample"] == {
        "turns": 1,
        "of": 2,
        "seed": 3,
        "strata": 1,
        "strata_covered": 1,
    }
    (session,) = read_sessions(output)
    assert sum(turn.replayable for turn in session.turns) == 1


def test_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = TextIOWrapper(BytesIO(json.dumps(CHAT).encode()))
    monkeypatch.setattr(sys, "stdin", given)
    code, report = answer(capsys, "import", "-")
    assert (code, report["files"][0]["file"], report["files"][0]["turns"]) == (0, "-", 2)


def test_nothing_to_replay_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("only notes\n")
    code, report = answer(capsys, "import", file)
    assert code == 2
    assert report["files"][0]["format"] is None
    assert "no known session format" in report["files"][0]["reason"]
    assert run(["import", str(tmp_path / "missing")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert run(["import", str(file), "--tag", "nonsense"]) == 2


def test_inspect_shows_what_is_there(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = answer(capsys, "inspect", recording, "--sample", "1")
    assert code == 0
    (file,) = report["files"]
    assert file["labels"] == {"prose": 2}
    assert file["context"] == {"0-8k": 2}
    assert file["fidelity"] == {"exact": 2}
    assert file["tokens"]["estimated"]
    assert len(report["sample"]["turns"]) == 1
    assert run(["inspect", str(recording)]) == 0
    assert "2 turns, 2 replayable (100%)" in capsys.readouterr().out


def test_the_advice_for_an_unknown_file_is_no_circle(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in ("import", "inspect"):
        _, report = answer(capsys, verb, root / "README.md")
        fix = report["files"][0]["fix"]
        assert "inspect" not in fix
        assert fix.startswith('write each conversation as a line {"messages": ')
    file = tmp_path / "rows.jsonl"
    rows = [{"note": n} for n in range(9)] + [{"prompt": "hello"}]
    file.write_text("\n".join(map(json.dumps, rows)))
    _, report = answer(capsys, "inspect", file)
    assert report["files"][0]["fix"].startswith("read it with --format prompts, or write each ")
    assert answer(capsys, "import", file, "--format", "prompts")[1]["files"][0]["turns"] == 1
    written = tmp_path / "written.jsonl"
    written.write_text(fix.removeprefix("write each conversation as a line ").replace(", …", ""))
    assert answer(capsys, "import", written)[1]["files"][0]["turns"] == 1


def test_names_from_a_recording_do_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"id": "c", "function": {"name": "\x1b[2Jls" + "x" * 9_000, "arguments": "{}"}}
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [asked]}]
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps({"messages": said, "model": "m\n\x07"}))
    assert run(["inspect", str(file), "--sample", "1"]) == 0
    shown = capsys.readouterr().out
    assert "ls" + "x" * 9 in shown
    assert all(character.isprintable() for line in shown.split("\n") for character in line)
    assert max(map(len, shown.split("\n"))) < 200


def test_a_bad_tokenizer_is_named(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(recording), "--tokenizer", str(recording)]) == 2
    assert "no readable tokenizer" in capsys.readouterr().err


@pytest.mark.parametrize("output", ["a.jsonl", "./a.jsonl", "link.jsonl", "../{home}/a.jsonl"])
@pytest.mark.parametrize("source", ["a.jsonl", ".", "*.jsonl"])
def test_a_file_that_is_read_is_never_the_output(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    source: str,
    output: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write_sessions(tmp_path / "a.jsonl", 2, 1)
    before = file.read_bytes()
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    output = output.format(home=tmp_path.name)
    assert run(["import", source, "-o", output, "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert "is one of the files to read" in answer["error"]
    assert file.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "link.jsonl"]


def test_an_earlier_output_elsewhere_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_sessions(tmp_path / "a.jsonl", 2, 1)
    for _ in range(2):
        assert run(["import", "a.jsonl", "-o", "out.jsonl"]) == 0


@pytest.mark.parametrize(
    ("source", "words"),
    [("/dev/null", "is neither a file nor a folder"), ("empty", "the folder holds no file")],
)
def test_what_holds_no_sessions_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    source: str,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert run(["import", source]) == 2
    assert f"error: {source}: {words}" in capsys.readouterr().err
