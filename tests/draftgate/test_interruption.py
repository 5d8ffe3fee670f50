"""Ctrl-C: the run stops cleanly, says what is kept, and goes on from there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import K, paper_paths
from paper_server import Faults
from paper_stream import Stream
from recorded import write_sessions

CONFIG = """
[run]
sessions = ["sessions.jsonl"]
tool_parser = "hermes"
[baseline]
urls = ["{baseline}"]
[candidate]
urls = ["{candidate}"]
speculative_config = {{ method = "eagle3", num_speculative_tokens = 3 }}
"""

ROOT = Path(__file__).parents[2]


class Person:
    """Presses Ctrl-C when the server has answered so many turns."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.seen = 0
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, stream: Stream, request: dict[str, Any]) -> None:
        if not request.get("return_token_ids"):
            return
        self.seen += 1
        if self.seen == self.after and self.process is not None:
            os.kill(self.process.pid, signal.SIGINT)

    def run(self, folder: Path, *arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "draftgate", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
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
        told = json.loads(out)
        kept = int(told["error"].split()[0])
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
        # One request asks what the server shows; of the 24 turns only those not kept are sent.
        assert person.seen - before == 1 + 24 - kept
