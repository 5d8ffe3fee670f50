"""`draftgate parsers`: texts, cases, errors, and what it prints and writes."""

import json
from datetime import date
from pathlib import Path

import pytest

from checks.splits.judge import judge_splits
from checks.splits.markup import FORMATS, CallToWrite
from checks.splits.parse_result import ParseResult
from checks.splits.samples import samples_for
from draftgate.cli import run
from draftgate.parsers.check import CheckedParser, CheckedText
from draftgate.parsers.output import lines_of
from reports.formats.parser_matrix import render_matrix
from tests.support.parsed_stream import capture
from traces.journal.journal import JournalWriter, journal_path

PIECES = ("a", "<c>", "x", "</c>", "\n")


def checked(name: str, lost: bool, kind: str = "tool") -> CheckedParser:
    """A parser that, where `lost`, loses its call when the last two tokens come together."""

    def stream(cut: tuple[int, ...]) -> ParseResult:
        together = lost and 4 not in cut
        return ParseResult("a", "", () if together else (("x", "{}"),))

    judged = judge_splits(PIECES, stream, stream((4,)), largest=2, count=9, seed=0)
    return CheckedParser(kind, name, (CheckedText("plain", "".join(PIECES), judged),))


ROWS = [
    checked("sound", lost=False),
    checked("lossy", lost=True),
    CheckedParser("tool", "odd", reason="needs a | b\nand <c>"),
    checked("thinker", lost=False, kind="reasoning"),
]


def test_statuses() -> None:
    assert [row.status for row in ROWS] == ["invariant", "variant", "untested", "invariant"]


def test_a_difference_is_printed_as_text_cut_and_both_results() -> None:
    lines = "\n".join(lines_of(ROWS))
    assert "calls lost when '</c>\\n' arrives in one delta" in lines
    assert "cut:         [1, 2, 3]" in lines
    assert "'calls': [{'name': 'x', 'arguments': '{}'}]" in lines
    assert "'calls': []" in lines


def test_the_matrix_is_dated_and_names_its_cases() -> None:
    page = render_matrix(
        [row.as_json() for row in ROWS],
        version="0.32.0",
        day=date(2026, 11, 29),
        largest=4,
        count=60,
        cases={"tool/lossy": "cases/tool-lossy.case.json"},
    )
    assert "vLLM 0.32.0, 2026-11-29" in page
    assert "🟩 1 invariant · 🟥 1 variant · ⬜ 1 untested" in page
    (lossy,) = [line for line in page.splitlines() if line.startswith("| `lossy`")]
    assert "🟥" in lossy
    assert "([case](cases/tool-lossy.case.json))" in lossy
    (odd,) = [line for line in page.splitlines() if line.startswith("| `odd`")]
    assert odd.endswith("needs a \\| b and &lt;c> |")
    assert odd.count(" | ") == 6


def test_every_red_cell_of_the_committed_matrix_has_a_case(root: Path) -> None:
    page = root / "docs" / "parsers" / "vllm-0.32.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if "| 🟥 |" in line]
    assert rows
    for row in rows:
        link = row.rsplit("([case](", 1)[1].split(")")[0]
        case = json.loads((page.parent / link).read_text(encoding="utf-8"))
        assert case["scenarios"][0]["expected"]["codes"] == ["SPLIT_VARIANT"], row


@pytest.mark.vllm
def test_a_failing_parser_writes_a_case_that_check_judges_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vllm")
    arguments = ["parsers", "--tool-parser", "step3", "--cuts", "5", "--json"]
    assert run([*arguments, "--cases", str(tmp_path)]) == 1
    (row,) = json.loads(capsys.readouterr().out)["parsers"]
    assert row["status"] == "variant"
    (case,) = tmp_path.glob("*.case.json")
    assert run(["check", str(case), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["cases"]
    assert found["scenarios"][0]["codes"] == ["SPLIT_VARIANT"]


@pytest.mark.vllm
def test_texts_of_files_and_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("vllm")
    text = tmp_path / "out.txt"
    text.write_text('<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>')
    assert run(["parsers", str(text), "--tool-parser", "hermes", "--cuts", "5"]) == 0
    assert run(["parsers", str(text)]) == 2
    assert "no parser to read them with" in capsys.readouterr().err
    assert run(["parsers", "--tool-parser", "hermse"]) == 2
    assert run(["parsers", str(text), "--tool-parser", "hermse"]) == 2
    err = capsys.readouterr().err
    assert "has no tool parser 'hermse'" in err
    assert "fix: did you mean hermes?" in err
    assert run(["parsers", "--reasoning-parser", "qwen"]) == 2
    assert "did you mean qwen3" in capsys.readouterr().err
    assert run(["parsers", str(tmp_path / "none.txt"), "--tool-parser", "hermes"]) == 2
    assert run(["parsers", "--tool-parser", "hermes", "--tokenizer", str(tmp_path / "no")]) == 2
    assert "cannot be loaded" in capsys.readouterr().err


def journal(folder: Path, parser: str, *texts: str) -> Path:
    file = journal_path(folder, "candidate", "main")
    with JournalWriter(file) as writer:
        for number, text in enumerate(texts):
            writer.add(capture(f"t{number}", text, (parser, None), step=1))
    return file


@pytest.mark.vllm
def test_outputs_of_a_journal_are_cut_where_they_parse_uncut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vllm")
    call = dict(samples_for("hermes"))["number"]
    broken = call.replace("}}", "]}")
    arguments = [str(journal(tmp_path, "hermes", call, broken)), "--tokenizer", "built-in"]
    assert run(["parsers", *arguments, "--tool-parser", "hermes", "--cuts", "5"]) == 0
    out = capsys.readouterr().out
    assert "invariant tool hermes" in out
    assert "s/t1: not cut: the model wrote what the parser does not take" in out


@pytest.mark.vllm
def test_a_case_of_a_journal_keeps_its_tools_and_no_secret(tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    secret = CallToWrite("read_file", {"path": "AKIA" + "Q7ZXCVBNM2L4K6J8"})
    file = journal(tmp_path, "step3", FORMATS["step3"].write([secret]))
    arguments = ["parsers", str(file), "--tool-parser", "step3", "--cuts", "5"]
    assert run([*arguments, "--cases", str(tmp_path / "cases")]) == 1
    (case,) = (tmp_path / "cases").glob("*.case.json")
    assert "AKIA" not in case.read_text(encoding="utf-8")
    assert run(["check", str(case)]) == 1


@pytest.mark.vllm
def test_recorded_turns_are_written_as_the_parsers_model_writes_them(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vllm")
    session = str(root / "traces" / "samples" / "chat-ops.jsonl")
    few = ["--outputs", "6", "--cuts", "3", "--json"]
    for tool, reasoning, code in (("hermes", "qwen3", 0), ("step3", None, 1)):
        thinking = ["--reasoning-parser", reasoning] if reasoning else []
        assert run(["parsers", session, "--tool-parser", tool, *thinking, *few]) == code
        (row,) = json.loads(capsys.readouterr().out)["parsers"]
        assert len(row["texts"]) + len(row["notes"]) >= 6
        assert any(text["reference"].get("calls") for text in row["texts"])
        assert "further outputs were not drawn (--outputs)" in row["notes"][-1]


@pytest.mark.vllm
def test_recorded_turns_that_cannot_be_read_or_written(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vllm")
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"neither": "session"}\n', encoding="utf-8")
    assert run(["parsers", str(odd), "--tool-parser", "hermes"]) == 2
    err = capsys.readouterr().err
    assert f"error: {odd}" in err
    assert "fix: " in err
    session = str(root / "traces" / "samples" / "chat-ops.jsonl")
    assert run(["parsers", session, "--tool-parser", "openai"]) == 2
    assert "turns cannot be written for openai" in capsys.readouterr().err
