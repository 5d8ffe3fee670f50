"""Transcripts of ``draftgate doctor``."""

import json
from pathlib import Path

import pytest

from draftgate.cli import run
from draftgate.machine.doctor import Check
from draftgate.machine.vllm_import import Imported
from tests.support.paper.gate import STAND_IN, K, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions

Capture = pytest.CaptureFixture[str]

CONFIG = """
[run]
sessions = ["{sessions}"]
[server]
model = "{model}"
[candidate]
speculative_config = {{ method = "ngram", num_speculative_tokens = 3 }}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No draftgate.toml of the checkout is picked up."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing vLLM takes 10 s; once for all these tests is enough."""
    monkeypatch.setattr(
        "draftgate.machine.doctor._vllm", lambda: Check("vllm", "warn", "not asked")
    )


def test_without_a_configuration_nothing_would_start(capsys: Capture) -> None:
    assert run(["doctor"]) == 2
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "not ready"
    assert "ok       python" in out
    assert "missing  configuration: draftgate.toml: no such configuration file" in out


@pytest.mark.usefixtures("no_import")
def test_two_servers_that_a_gate_would_start_with_are_ready(
    tmp_path: Path, capsys: Capture
) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 3, 2)
    with paper_paths() as (baseline, candidate):
        attached(tmp_path, baseline.url, candidate.url)
        assert run(["doctor"]) == 0
        out = capsys.readouterr().out
        for line in (
            "ok       sessions: 3 sessions, 6 turns to replay",
            "ok       store: draftgate.duckdb will be made",
            f"ok       baseline {baseline.url}: serves paper",
            "ok       drafting: the baseline has no drafter, the candidate drafts",
            "ok       observability: the servers show all that is judged",
            "warn     tokenizer: not known, so split invariance is not judged",
        ):
            assert line in out
    assert out.splitlines()[-1] == "ready"
    assert not list(tmp_path.glob("*.duckdb"))


@pytest.mark.usefixtures("no_import")
@pytest.mark.parametrize(
    ("candidate", "baseline", "name", "words"),
    [
        (Faults(), Faults(drafts=K), "drafting", "are the paths swapped?"),
        (Faults(drafts=K, metrics="none"), Faults(), "observability", "per-step speculation"),
        (Faults(drafts=K, version="0.31.0"), Faults(), "paths differ", "vLLM version"),
    ],
    ids=["swapped", "a forgotten flag", "another version"],
)
def test_what_a_gate_would_refuse_is_not_ready(
    tmp_path: Path, capsys: Capture, candidate: Faults, baseline: Faults, name: str, words: str
) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 1, 1)
    with paper_paths(candidate, baseline) as servers:
        attached(tmp_path, servers[0].url, servers[1].url)
        found = checks(capsys)
    (missing,) = [check for check in found.values() if check["state"] == "missing"]
    assert missing["name"] == name
    assert words in missing["found"]
    assert missing["fix"]


@pytest.mark.usefixtures("no_import")
@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        ('sessions = ["empty.jsonl"]', "sessions", "no turn can be replayed"),
        ('db = "no.duckdb"\n[reference]\nrun = "20260101"', "reference", "no.duckdb"),
        ('[server]\nserved_model_name = "other"', "baseline", "serves paper, not other"),
        ("[run]", "urls", "both URLs are one server"),
    ],
    ids=["sessions without turns", "a reference that is not there", "another model", "one url"],
)
def test_every_part_is_looked_at(
    tmp_path: Path, capsys: Capture, change: str, name: str, words: str
) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 1, 1)
    (tmp_path / "empty.jsonl").write_text("")
    with paper_paths() as (baseline, candidate):
        one = baseline.url if name == "urls" else candidate.url
        text = ATTACHED.format(baseline=baseline.url, candidate=one)
        if change.startswith("sessions"):
            text = text.replace('sessions = ["sessions.jsonl"]', change)
        elif change.startswith("db"):
            text = text.replace("[baseline]", f"{change}\n[baseline]")
        elif change.startswith("[server]"):
            text = f"{text}\n{change}"
        (tmp_path / "draftgate.toml").write_text(text)
        found = checks(capsys)
    missing = [check for check in found.values() if check["state"] == "missing"]
    assert missing
    assert any(c["name"].startswith(name) and words in c["found"] for c in missing), missing


ATTACHED = """
[run]
sessions = ["sessions.jsonl"]
[baseline]
urls = ["{baseline}"]
[candidate]
urls = ["{candidate}"]
speculative_config = {{ method = "eagle3", num_speculative_tokens = 3 }}
"""


def attached(folder: Path, baseline: str, candidate: str) -> None:
    text = ATTACHED.format(baseline=baseline, candidate=candidate)
    (folder / "draftgate.toml").write_text(text)


@pytest.mark.usefixtures("no_import")
def test_what_is_missing_is_named_with_its_fix(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "draftgate.toml"
    file.write_text(CONFIG.format(sessions="none/*.jsonl", model=tmp_path / "model"))
    assert run(["doctor", "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    missing = {c["name"]: c["fix"] for c in found["checks"] if c["state"] == "missing"}
    missing.pop("server.python", None)  # where these tests run without vLLM
    assert found["can_run"] is False
    assert missing == {
        "sessions": "name files, folders, or globs",
        "server.model": "fix `server.model`",
    }


def launched(folder: Path, server: str) -> Path:
    """A configuration whose model and sessions are there."""
    (folder / "chat.jsonl").touch()
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text("{}")
    text = CONFIG.format(sessions="chat.jsonl", model=folder / "model")
    file = folder / "draftgate.toml"
    file.write_text(text.replace("[candidate]", f"{server}\n[candidate]"))
    return file


def checks(capsys: Capture) -> dict[str, dict[str, str]]:
    """What doctor says, by name."""
    run(["doctor", "--json"])
    return {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def python(folder: Path, lines: str) -> Path:
    """An executable in place of a Python."""
    file = folder / "python"
    file.write_text(f"#!/bin/sh\n{lines}\n")
    file.chmod(0o755)
    return file


@pytest.mark.usefixtures("no_import")
@pytest.mark.parametrize(
    ("lines", "state", "found"),
    [
        ("echo loading; echo vLLM 0.32.0", "ok", "has vLLM 0.32.0"),
        ("echo no torch here >&2; exit 1", "missing", "does not import vLLM: no torch here"),
        ("exit 0", "missing", "does not import vLLM: no message"),
        ('test "$VLLM_X" = 1 && echo vLLM 0.32.0', "ok", "has vLLM 0.32.0"),
    ],
)
def test_the_python_of_the_servers_is_asked_for_vllm(
    tmp_path: Path,
    capsys: Capture,
    lines: str,
    state: str,
    found: str,
) -> None:
    file = python(tmp_path, lines)
    launched(tmp_path, f'python = "{file}"\nenv = {{ VLLM_X = "1" }}')
    check = checks(capsys)["server.python"]
    assert (check["state"], check["found"]) == (state, f"{file} {found}")
    assert bool(check["fix"]) == (state == "missing")


@pytest.mark.usefixtures("no_import")
def test_a_python_that_is_not_there(tmp_path: Path, capsys: Capture) -> None:
    launched(tmp_path, 'python = "/nope/python"')
    check = checks(capsys)["server.python"]
    assert (check["state"], check["found"]) == ("missing", "there is no Python at /nope/python")


@pytest.mark.usefixtures("no_import")
def test_a_python_that_is_no_program(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "python"
    file.write_bytes(b"\x7fELF\0")
    file.chmod(0o755)
    launched(tmp_path, f'python = "{file}"')
    assert "cannot be run" in checks(capsys)["server.python"]["found"]


@pytest.mark.usefixtures("no_import")
def test_without_vllm_here_nothing_can_be_launched(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attached path needs none, so the machine alone is only warned of it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    file = launched(tmp_path, "")
    assert checks(capsys)["server.python"]["state"] == "missing"
    file.write_text(
        file.read_text().replace(
            "[candidate]", f'env = {{ PYTHONPATH = "{STAND_IN}" }}\n[candidate]'
        )
    )
    monkeypatch.setattr(
        "draftgate.preflight.checks.import_vllm", lambda *a: Imported("vLLM as found there")
    )
    assert checks(capsys)["server.python"]["state"] == "ok"


@pytest.mark.usefixtures("no_import")
def test_a_shadowed_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from draftgate.machine import doctor

    monkeypatch.setattr(doctor, "ROOMS", ("json",))
    assert run(["doctor"]) == 2
    assert "`import json` finds" in capsys.readouterr().out
