"""Transcripts of ``draftgate gate``: what it prints, and how it ends."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from draftgate.cli import run
from tests.support.paper.gate import K, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions
from tests.support.paper.spoiled import torn_arguments

Capture = pytest.CaptureFixture[str]

CONFIG = """
[run]
sessions = ["{sessions}"]
output = "{folder}/out"
db = "{folder}/store.duckdb"
tool_parser = "hermes"
[baseline]
urls = ["{baseline}"]
[candidate]
urls = ["{candidate}"]
speculative_config = {{ method = "eagle3", num_speculative_tokens = 3 }}
[policy]
rate_margin = 2.5e-3
min_sessions = 2
min_turns = 10
success_margin = 0.2
call_margin = 0.3
"""

LAUNCHED = """
[run]
sessions = ["{sessions}"]
output = "{folder}/out"
db = "{folder}/store.duckdb"
[server]
model = "{model}"
start_timeout_s = 20
flags = {flags}
[candidate]
speculative_config = {{ method = "ngram", num_speculative_tokens = 3 }}
"""


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return write_sessions(tmp_path / "sessions.jsonl", 24, 4)


def write_config(folder: Path, text: str, **fields: object) -> str:
    file = folder / "draftgate.toml"
    file.write_text(text.format(folder=folder, **fields))
    return str(file)


def test_a_passing_gate(tmp_path: Path, sessions: Path, capsys: Capture) -> None:
    with paper_paths() as (baseline, candidate):
        file = write_config(
            tmp_path, CONFIG, sessions=sessions, baseline=baseline.url, candidate=candidate.url
        )
        code = run(["gate", "-c", file, "--json"])
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (code, found["verdict"], found["codes"]) == (0, "pass", {})
    assert {"run", "verdict", "reasons", "codes", "store", "report", "counts", "bounds"} <= set(
        found
    )
    assert Path(found["report"]).is_file()
    assert "candidate: replaying (main): started (96)" in err


def test_a_failing_gate_names_its_reasons(tmp_path: Path, sessions: Path, capsys: Capture) -> None:
    with paper_paths(Faults(drafts=K, spoil=torn_arguments)) as (baseline, candidate):
        file = write_config(
            tmp_path, CONFIG, sessions=sessions, baseline=baseline.url, candidate=candidate.url
        )
        code = run(["gate", "-c", file])
        out, _ = capsys.readouterr()
    assert code == 1
    assert out.lstrip().startswith("FAIL")
    assert "ARGS_NOT_JSON" in out
    cases = sorted((tmp_path / "out" / "runs").glob("*/cases/*ARGS_NOT_JSON*.case.json"))
    assert cases
    assert run(["check", str(cases[0]), "--json"]) == 1
    checked = json.loads(capsys.readouterr().out)
    assert checked["cases"][0]["scenarios"][0]["codes"] == ["ARGS_NOT_JSON"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _bad_file(folder: Path) -> list[str]:
    return ["gate", "-c", str(folder / "none.toml")]


def _unreachable(folder: Path) -> list[str]:
    sessions = write_sessions(folder / "s.jsonl", 1, 1)
    url = f"http://127.0.0.1:{free_port()}"
    return [
        "gate",
        "-c",
        write_config(
            folder, CONFIG, sessions=sessions, baseline=url, candidate="http://127.0.0.1:10"
        ),
    ]


def _no_session_file(folder: Path) -> list[str]:
    url = "http://127.0.0.1:9"
    missing = folder / "missing.jsonl"
    return [
        "gate",
        "-c",
        write_config(
            folder, CONFIG, sessions=missing, baseline=url, candidate="http://127.0.0.1:10"
        ),
    ]


def _malformed_sessions(folder: Path) -> list[str]:
    broken = folder / "broken.jsonl"
    broken.write_bytes(b'{"messages": [\x00\xff\nnot json\n')
    url = "http://127.0.0.1:9"
    return [
        "gate",
        "-c",
        write_config(
            folder, CONFIG, sessions=broken, baseline=url, candidate="http://127.0.0.1:10"
        ),
    ]


def _missing_model(folder: Path) -> list[str]:
    sessions = write_sessions(folder / "s.jsonl", 1, 1)
    model = folder / "no-such-model"
    return [
        "gate",
        "-c",
        write_config(folder, LAUNCHED, sessions=sessions, model=model, flags="[]"),
    ]


def _port_in_use(folder: Path) -> list[str]:
    sessions = write_sessions(folder / "s.jsonl", 1, 1)
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    HELD.bind(("127.0.0.1", 0))
    HELD.listen()
    flags = f'["--port", "{HELD.getsockname()[1]}"]'
    return [
        "gate",
        "-c",
        write_config(folder, LAUNCHED, sessions=sessions, model=model, flags=flags),
    ]


HELD = socket.socket()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (_bad_file, ("none.toml", "no such configuration file")),
        (_unreachable, ("127.0.0.1",)),
        (_no_session_file, ("missing.jsonl",)),
        (_malformed_sessions, ("broken.jsonl",)),
        (_missing_model, ("no-such-model", "config.json")),
        (_port_in_use, ("port", "in use")),
    ],
)
def test_what_cannot_run_says_why_and_what_to_do(
    tmp_path: Path,
    capsys: Capture,
    arguments: Callable[[Path], list[str]],
    words: tuple[str, ...],
) -> None:
    code = run(arguments(tmp_path))
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    last = err[err.index("error: ") :]
    assert all(word in last for word in words), err
    assert "fix: " in last
    assert "Traceback" not in err


def test_an_error_is_an_object_with_json(tmp_path: Path, capsys: Capture) -> None:
    assert run(["gate", "-c", str(tmp_path / "none.toml"), "--json"]) == 2
    assert "no such configuration" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gate", "--concurency", "3"], "No such option"),
        (["gat"], "No such command 'gat'. Did you mean gate?"),
        (["gate", "--concurrency", "0"], "--concurrency"),
    ],
)
def test_a_wrong_word_is_named(arguments: list[str], words: str, capsys: Capture) -> None:
    assert run(arguments) == 2
    assert words in capsys.readouterr().err


def test_a_server_that_dies_mid_run_is_named_and_the_run_can_be_resumed(
    tmp_path: Path, sessions: Path, capsys: Capture
) -> None:
    fault = Faults(drafts=K, die_after=60)
    with paper_paths(fault) as (baseline, candidate):
        file = write_config(
            tmp_path, CONFIG, sessions=sessions, baseline=baseline.url, candidate=candidate.url
        )
        assert run(["gate", "-c", file]) == 2
        err = capsys.readouterr().err
        assert "gives no answer any more" in err
        (folder,) = (tmp_path / "out" / "runs").iterdir()
        candidate.faults = Faults(drafts=K)
        before = candidate.chats
        assert run(["gate", "-c", file, "--resume", folder.name, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["run"] == folder.name
    assert answer["codes"] == {"SERVER_RESTARTED": 1}, "turns in flight were lost with the server"
    assert candidate.chats - before < 96  # what was answered before is not sent again


@pytest.mark.parametrize("candidate_of", [Faults(drafts=K), Faults(drafts=K, idle=True)])
def test_a_run_that_has_ended_is_not_replayed_and_its_report_is_written_again(
    tmp_path: Path, sessions: Path, capsys: Capture, candidate_of: Faults
) -> None:
    """As after a kill between the store and the report."""
    with paper_paths(candidate_of) as (baseline, candidate):
        file = write_config(
            tmp_path, CONFIG, sessions=sessions, baseline=baseline.url, candidate=candidate.url
        )
        code = run(["gate", "-c", file, "--json"])
        first = json.loads(capsys.readouterr().out)
        before = candidate.chats
    report = Path(first["report"])
    page = report.read_text()
    report.unlink()
    sessions.unlink()  # neither sessions nor servers are needed any more
    assert run(["gate", "-c", file, "--resume", first["run"], "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out) == first
    assert f"run {first['run']} has ended; its report is written again" in err
    assert candidate.chats == before
    assert report.read_text() == page


def test_resuming_an_unknown_run(tmp_path: Path, sessions: Path, capsys: Capture) -> None:
    url = "http://127.0.0.1:9"
    file = write_config(tmp_path, CONFIG, sessions=sessions, baseline=url, candidate=url)
    assert run(["gate", "-c", file, "--resume", "20200101-000000-0000"]) == 2
    assert "no such run" in capsys.readouterr().err
