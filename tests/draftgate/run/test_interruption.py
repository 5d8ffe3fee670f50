"""Ctrl-C and SIGTERM: the run stops cleanly, says what is kept, and goes on from there."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import draftgate.run.gate as gate_module
from draftgate.cli import run
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from tests.support.paper.gate import STAND_IN, K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions
from tests.support.paper.stream import Stream

CONFIG = """
[run]
sessions = ["sessions.jsonl"]
tool_parser = "hermes"
sampled_share = 0
[baseline]
urls = ["{baseline}"]
[candidate]
urls = ["{candidate}"]
speculative_config = {{ method = "eagle3", num_speculative_tokens = 3 }}
"""

ROOT = Path(__file__).parents[3]


class Person:
    """Presses Ctrl-C (or sends `number`) when the server has answered so many turns."""

    def __init__(self, after: int, number: int = signal.SIGINT) -> None:
        self.after = after
        self.number = number
        self.seen = 0
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, stream: Stream, request: dict[str, Any]) -> None:
        if not request.get("return_token_ids"):
            return
        self.seen += 1
        if self.seen == self.after and self.process is not None:
            os.kill(self.process.pid, self.number)

    def run(
        self, folder: Path, *arguments: str, before: tuple[str, ...] = ()
    ) -> tuple[int, str, str]:
        command = [*before, sys.executable, "-m", "draftgate", *arguments]
        # Under nohup the tests ignore SIGHUP, and so would their children.
        heard = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        signal.signal(signal.SIGHUP, heard)
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


@pytest.mark.parametrize("verb", [["gate"], ["replay", "--path", "candidate"]])
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(tmp_path: Path, verb: list[str]) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 6, 4)
    person = Person(after=10)
    with paper_paths(Faults(drafts=K, spoil=person)) as (baseline, candidate):
        config = CONFIG.format(baseline=baseline.url, candidate=candidate.url)
        (tmp_path / "draftgate.toml").write_text(config)
        code, out, err = person.run(tmp_path, *verb, "--json")
        assert code == 130, err
        (folder,) = (tmp_path / ".draftgate" / "runs").iterdir()
        answer = json.loads(out)
        kept = int(answer["error"].split()[0])
        assert 1 <= kept <= 10
        *_, interrupted, resume = err.splitlines()
        where = folder.relative_to(tmp_path)
        assert interrupted == f"interrupted: {kept} answers are kept in {where}"
        assert resume.startswith(f"resume: the same command with --resume {folder.name} ")
        assert "Traceback" not in err
        before = person.seen
        code, out, err = person.run(tmp_path, *verb, "--resume", folder.name, "--json")
        assert code == (3 if verb == ["gate"] else 0), err
        assert json.loads(out)["run"] == folder.name
        # Two requests ask what the server shows; of the 24 turns only those not kept are sent.
        assert person.seen - before == 2 + 24 - kept


@pytest.mark.parametrize(
    ("number", "before"),
    [
        (signal.SIGTERM, ()),
        (signal.SIGTERM, ("sh", "-c", 'trap "" INT; exec "$@"', "sh")),
        (signal.SIGHUP, ()),
    ],
)
def test_sigterm_and_sighup_end_a_run_as_ctrl_c_does(
    tmp_path: Path, number: int, before: tuple[str, ...]
) -> None:
    """In the background, too, where a shell lets its jobs ignore Ctrl-C."""
    write_sessions(tmp_path / "sessions.jsonl", 6, 4)
    person = Person(after=10, number=number)
    with paper_paths(Faults(drafts=K, spoil=person)) as (baseline, candidate):
        config = CONFIG.format(baseline=baseline.url, candidate=candidate.url)
        (tmp_path / "draftgate.toml").write_text(config)
        code, out, err = person.run(tmp_path, "gate", "--json", before=before)
    assert code == 130, err
    (folder,) = (tmp_path / ".draftgate" / "runs").iterdir()
    answer = json.loads(out)
    assert 1 <= int(answer["error"].split()[0]) <= 10
    assert f"--resume {folder.name} " in answer["fix"]
    assert "Traceback" not in err


LAUNCHED = """
[run]
sessions = ["sessions.jsonl"]
order = "together"
[server]
model = "model"
served_model_name = "paper"
env = {{ PYTHONPATH = "{stand_in}", PAPER_FAULT = "" }}
[candidate]
speculative_config = {{ method = "mtp", num_speculative_tokens = 3 }}
"""


def _servers(folder: Path) -> list[int]:
    """The processes that were launched to serve the model below `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if (
                b"vllm.entrypoints.openai.api_server" in words
                and Path(os.readlink(process / "cwd")) == folder
            ):
                found.append(int(process.name))
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to see processes")
def test_sigterm_ends_the_servers_that_were_launched(tmp_path: Path) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 6, 4)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "draftgate.toml").write_text(LAUNCHED.format(stand_in=STAND_IN))
    process = subprocess.Popen(
        [sys.executable, "-m", "draftgate", "gate"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        while not list(tmp_path.glob(".draftgate/runs/*/candidate-main-0.jsonl.zst")):
            assert process.poll() is None
            time.sleep(0.05)
        launched = _servers(tmp_path)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert launched
    assert process.returncode == 130, err
    assert _servers(tmp_path) == []


def test_ctrl_c_before_a_run_has_begun_is_an_object_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("draftgate.machine.doctor.machine_checks", pressed)
    assert run(["doctor", "--json"]) == 130
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": "interrupted", "fix": ""}
    assert err.strip() == "interrupted"


def test_a_run_that_another_process_ended_meanwhile_shows_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is resumed while it goes on, and gets the lock as the other process ends."""
    write_sessions(tmp_path / "sessions.jsonl", 6, 2)
    with paper_paths() as servers:
        config = paper_config(tmp_path, servers)
        first = run_gate(config, SilentReporter())
        asked = iter([None])  # it has not ended when it is looked at first
        real = gate_module.stored_outcome
        monkeypatch.setattr(gate_module, "stored_outcome", lambda *given: next(asked, real(*given)))
        second = run_gate(config, SilentReporter(), resume=first.run)
    assert second.verdict.verdict == first.verdict.verdict
    assert (second.run, second.codes, second.counts) == (first.run, first.codes, first.counts)
