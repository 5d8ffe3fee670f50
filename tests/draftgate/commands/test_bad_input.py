"""Transcripts of what cannot be judged: file, place and cure are named, and nothing is raised."""

import json
from pathlib import Path
from typing import Any

import pytest

from draftgate.cli import run
from traces.journal.journal import JournalWriter, journal_path
from traces.wire.capture import Capture, CaptureKey

Printed = pytest.CaptureFixture[str]


def case(folder: Path, **scenario: Any) -> Path:
    file = folder / "x.case.json"
    whole = {"case": 1, "kind": "k", "scenarios": [{"name": "bad", **scenario}]}
    file.write_text(json.dumps(whole), encoding="utf-8")
    return file


def refused(file: Path, printed: Printed) -> tuple[str, str]:
    """(error, fix) of ``draftgate check FILE``, which ends with 2."""
    assert run(["check", str(file)]) == 2
    lines = printed.readouterr().err.splitlines()
    (error,) = [line for line in lines if line.startswith("error: ")]
    (fix,) = [line for line in lines if line.startswith("fix: ")]
    assert str(file) in error
    assert fix.removeprefix("fix: ").strip()
    return error, fix


TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "strng"}}}


def test_a_case_with_an_unknown_field(tmp_path: Path, capsys: Printed) -> None:
    error, fix = refused(case(tmp_path, candidate={"chunk": []}), capsys)
    assert "scenario 'bad': candidate.chunk is not a known field" in error
    assert "rename it to `chunks`" in fix


def test_an_invalid_tool_schema(tmp_path: Path, capsys: Printed) -> None:
    error, fix = refused(case(tmp_path, request={"tools": [TOOL]}), capsys)
    assert "scenario 'bad': the JSON Schema of tool 'ls' is invalid at /type" in error
    assert "correct the schema" in fix


def test_an_invalid_output_schema(tmp_path: Path, capsys: Printed) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "r", "schema": {"required": 1}}}
    error, _ = refused(case(tmp_path, request={"response_format": schema}), capsys)
    assert "the output format is invalid at /required" in error


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("context", "what", "cure"),
    [
        ({"tool_parser": "hermse"}, "has no tool parser 'hermse'", "did you mean hermes?"),
        ({"reasoning_parser": "qwen4"}, "no reasoning parser 'qwen4'", "did you mean qwen3"),
        ({"tool_parser": "hermes", "cuts": [7]}, "context.cuts names 7", "a token offset"),
    ],
)
def test_a_cut_that_cannot_be_tried(
    tmp_path: Path, capsys: Printed, context: dict[str, Any], what: str, cure: str
) -> None:
    pytest.importorskip("vllm")
    where = {"tokenizer": "built-in", "cuts": [1], **context}
    error, fix = refused(case(tmp_path, candidate={"raw_text": "ok"}, context=where), capsys)
    assert f"scenario 'bad': {'context: ' if 'no ' in what else ''}" in error
    assert what in error
    assert cure in fix


@pytest.mark.vllm
def test_a_tokenizer_without_the_tokens_a_parser_needs(
    tmp_path: Path, capsys: Printed, root: Path
) -> None:
    pytest.importorskip("vllm")
    target = root / "models" / "weights" / "target"
    if not (target / "tokenizer.json").is_file():
        pytest.skip("the embedded model is not in models/weights")
    where = {"tokenizer": str(target), "tool_parser": "deepseek_v3", "cuts": [1]}
    error, fix = refused(case(tmp_path, candidate={"raw_text": "ok ok"}, context=where), capsys)
    assert "the request do not go together: DeepSeek-V3 Tool parser" in error
    assert "could not locate tool call start/end tokens in the tokenizer" in error
    assert "name the tokenizer of a model this parser is made for, or `built-in`" in fix
    assert run(["parsers", "--tool-parser", "deepseek_v3", "--tokenizer", str(target)]) == 2
    printed = capsys.readouterr().err
    assert f"error: tokenizer '{target}' does not serve the parser deepseek_v3" in printed
    assert "fix: name the tokenizer of a model this parser is made for (--tokenizer)" in printed


def event(text: str, **choice: Any) -> str:
    part = {"index": 0, "delta": {"content": text}, **choice}
    return f"data: {json.dumps({'choices': [part]})}\n\n"


def journals(folder: Path, candidate: str) -> list[str]:
    """A journal of each path with one turn; `candidate` is what the candidate sent."""
    files = []
    whole = event("Done", finish_reason="stop") + "data: [DONE]\n\n"
    for path, body in (("baseline", whole), ("candidate", candidate)):
        file = journal_path(folder, path, "main")
        ended = "done" if body == whole else "closed"
        request = {"messages": [], "temperature": 0}
        key = CaptureKey("r", path, "main", "s1", "t7")
        with JournalWriter(file) as writer:
            writer.add(Capture(key, request, 200, 0.0, ((1.0, body),), ended))
        files.append(str(file))
    return files


def test_a_capture_that_stops_inside_an_event(tmp_path: Path, capsys: Printed) -> None:
    cut = event("Do") + event("ne", finish_reason="stop")[:30]
    assert run(["check", *journals(tmp_path, cut)]) != 0
    out = " ".join(capsys.readouterr().out.split())
    where = "the stream ends inside event 1 (session s1, turn t7)"
    assert f"STREAM_NO_FINISH x 1: no chunk carries a finish_reason; {where}" in out


def test_a_journal_whose_writer_was_killed(tmp_path: Path, capsys: Printed) -> None:
    whole = event("Done", finish_reason="stop") + "data: [DONE]\n\n"
    files = journals(tmp_path, whole)
    with Path(files[1]).open("ab") as torn:
        torn.write(Path(files[1]).read_bytes()[:40])
    run(["check", *files])
    printed = capsys.readouterr().err
    assert f"warning: {files[1]}: its last 40 bytes are a torn record, left out" in printed
    assert "fix: send its turn again" in printed
