"""Transcripts of ``draftgate init``: what it asks, what it writes, how it ends."""

import json
import os
import pty
import select
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from draftgate.cli import run
from draftgate.config.config import Config
from draftgate.config.file import read_config
from draftgate.init.text import toml_value
from draftgate.init.wanted import Wanted
from draftgate.machine.doctor import Check
from tests.support.paper.gate import K, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions in the current folder; what `doctor` says of vLLM is tested with `doctor`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "draftgate.machine.doctor._vllm", lambda: Check("vllm", "ok", "as installed")
    )
    write_sessions(tmp_path / "sessions.jsonl", 3, 2)
    return tmp_path


def test_endpoints_are_asked_what_they_are(here: Path, capsys: Capture) -> None:
    with paper_paths() as (baseline, candidate):
        urls = ["--baseline-url", baseline.url, "--candidate-url", candidate.url]
        assert run(["init", "sessions.jsonl", *urls]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert out.splitlines() == [
            "sessions: 3 sessions in 1 file, 6 of 6 turns can be replayed, about 12 output "
            "tokens, longest prompt about 82",
            f"baseline: {baseline.url}: vLLM 0.32.0, model paper, context 16,384 tokens, "
            "no drafter",
            f"candidate: {candidate.url}: vLLM 0.32.0, model paper, context 16,384 tokens, "
            "drafts 3 tokens",
            "wrote draftgate.toml",
            "next: draftgate doctor -c draftgate.toml, then draftgate gate -c draftgate.toml",
        ]
        config = read_config(here / "draftgate.toml")
        assert config.baseline.urls == (baseline.url,)
        assert config.candidate.speculative_config == {"num_speculative_tokens": K}
        assert run(["doctor"]) == 0
        capsys.readouterr()
        assert run(["gate", "--max-sessions", "1"]) == 3


def test_sessions_alone_are_enough(here: Path, capsys: Capture) -> None:
    assert run(["init", "sessions.jsonl"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "still to fill in: `baseline.urls` (or `server.model`), `candidate.urls`" in out
    text = (here / "draftgate.toml").read_text()
    assert "# seen: 3 sessions in 1 file, 6 of 6 turns can be replayed" in text
    data = tomllib.loads(text)
    assert data["run"] == {"sessions": ["sessions.jsonl"]}
    assert run(["doctor"]) == 2
    shown = capsys.readouterr().out
    assert "[baseline] and [candidate] without `urls`" in shown
    assert "ok       python" in shown


def test_every_key_is_there_with_its_default(here: Path) -> None:
    """Taking the comment signs off gives a valid file that says the same."""
    assert run(["init", "sessions.jsonl", "--model", "m", "--method", "ngram", "-k", "2"]) == 0
    file = here / "draftgate.toml"
    config = read_config(file)
    lines = []
    for line in file.read_text().splitlines():
        key = line.removeprefix("# ").split(" = ")[0]
        commented = line.startswith("# ") and " = " in line and key.isidentifier()
        lines.append(line.removeprefix("# ") if commented else line)
    full = tomllib.loads("\n".join(lines))
    assert Config.model_validate(full) == config
    assert set(full["run"]) >= {"output", "db", "concurrency", "seed", "redact"}
    assert config.candidate.speculative_config == {"method": "ngram", "num_speculative_tokens": 2}


def test_it_never_overwrites_without_force(here: Path, capsys: Capture) -> None:
    file = here / "draftgate.toml"
    file.write_text("mine")
    assert run(["init", "sessions.jsonl"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: draftgate.toml: exists already\nfix: --force overwrites it, -o names another file\n"
    )
    assert file.read_text() == "mine"
    assert run(["init", "sessions.jsonl", "-o", "other.toml"]) == 0
    assert run(["init", "sessions.jsonl", "--force"]) == 0
    assert file.read_text() != "mine"


def test_a_server_that_does_not_answer_is_a_warning(here: Path, capsys: Capture) -> None:
    url = "http://127.0.0.1:9"
    assert run(["init", "sessions.jsonl", "--candidate-url", url]) == 0
    out, err = capsys.readouterr()
    assert err.startswith(f"warning: candidate {url} did not answer: {url}/v1/models cannot be")
    assert "still to fill in: `baseline.urls`" in out
    assert run(["init", "--candidate-url", url, "--no-ask", "--force"]) == 0
    assert capsys.readouterr().err == ""


def test_what_would_make_a_run_invalid_is_said_now(capsys: Capture) -> None:
    wrong = Faults(version="0.31.0")
    with paper_paths(candidate=wrong, baseline=Faults(drafts=K)) as (baseline, candidate):
        urls = ["--baseline-url", baseline.url, "--candidate-url", candidate.url]
        assert run(["init", "sessions.jsonl", *urls, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == ""
    assert found["warnings"][:2] == [
        f"{baseline.url} has a drafter, and is named as the baseline",
        f"{candidate.url} has no drafter, and is named as the candidate",
    ]
    assert found["warnings"][2].startswith("vLLM version: ")
    assert found["warnings"][2].endswith(" differ: 0.32.0 | 0.31.0")
    assert [server["draft_tokens"] for server in found["servers"]] == [K, None]
    assert found["open"] == []


def test_sessions_that_are_not_there(here: Path, capsys: Capture) -> None:
    assert run(["init", "none.jsonl"]) == 2
    assert "none.jsonl: no such file or folder" in capsys.readouterr().err
    (here / "notes.txt").write_text("no session\n")
    assert run(["init", "notes.txt"]) == 0
    err = capsys.readouterr().err
    assert "warning: notes.txt: no known session format matches; it is left out" in err
    assert "warning: no turn of these sessions can be replayed" in err


def test_on_a_terminal_it_asks(here: Path) -> None:
    """In a pseudo-terminal, as a person sees it; elsewhere nothing is ever asked."""
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "draftgate", "init", "--no-ask"]
    root = Path(__file__).parents[3]
    process = subprocess.Popen(
        command,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    os.close(terminal)
    screen = b""
    answers = [
        (b"Recorded sessions", b"sessions.jsonl"),
        (b"without the drafter", b"http://a:8000"),
        (b"with the drafter", b"http://b:8000"),
    ]
    for question, answer in answers:
        deadline = time.monotonic() + 30
        while question not in screen and time.monotonic() < deadline:
            if select.select([controller], [], [], 1)[0]:
                screen += os.read(controller, 4096)
        assert question in screen, screen
        os.write(controller, answer + b"\n")
    out, _ = process.communicate(timeout=30)
    os.close(controller)
    assert process.returncode == 0
    assert b"wrote draftgate.toml" in out
    config = read_config(here / "draftgate.toml")
    assert (config.baseline.urls, config.candidate.urls) == (("http://a:8000",), ("http://b:8000",))


def test_toml_values() -> None:
    value = {"a-b": [1, 2.5, True, 'say "hi"\n\x7f'], "c": {}, "e": 1e-05, "f": "é\u2028"}
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value


def test_an_empty_wish_is_not_attached() -> None:
    assert not Wanted().attached
