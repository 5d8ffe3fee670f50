"""atif-make 0.10 as a third opinion, where a Python of 3.12 or later has it (``ATIF_MAKE_PYTHON``).

Known disagreements, decided by reading the source:

* It counts a response of the model ``<synthetic>`` (an API error shown to the user) as a step.
* Of a log with two sessions it converts one; of a Codex rollout it leaves out searches and what
  follows a second ``session_meta``, and calls of the type ``tool_call``.
* It makes a step of every item of a Codex response that no result or token count parts.
* It fails on rows that are no objects, and does not read web exports, bare Codex items, kimi, Qwen
  Code, opencode, or several trajectories in one file.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from traces.importing.importer import import_files

DISAGREE = {
    "microsoft-vscode-copilot-chat__98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl": "synthetic",
    "jazzyalex-agent-sessions__stage0_claude_small.jsonl": "two sessions",
    "jazzyalex-agent-sessions__stage0_codex_small.jsonl": "searches, second session_meta",
    "jazzyalex-agent-sessions__stage0_codex_large.jsonl": "tool_call",
    "es617-claude-replay__fixture-codex-edges.jsonl": "a step per item",
    "es617-claude-replay__fixture-codex.jsonl": "a step per item",
    "pypi-atif_make-0.10.0__codex-exec-json-stream.jsonl": "a step per item",
    "pypi-cc_session_core-0.2.0__codex_rollout.jsonl": "a step per item",
    "Dicklesworthstone-coding_agent_session_search__malformed_wrong_types.jsonl": "fails",
    "daaain-claude-code-log__edge_cases.jsonl": "fails",
    "pypi-cc_session_core-0.2.0__attachments.jsonl": "no conversation in it",
    "simonw-claude-code-transcripts__claude-web_sample_session.json": "web export",
    "jazzyalex-agent-sessions__stage0_codex_schema_drift.jsonl": "bare items",
    "pypi-agentpile-0.3.1__atif_two.jsonl": "several trajectories",
}
FOLDERS = ("claude-code", "codex", "anthropic-logs", "openai-logs", "atif")
RUN = "import sys; from atif_make.cli import main; sys.exit(main())"


def has_atif_make(python: str) -> bool:
    asked = subprocess.run([python, "-c", "import atif_make"], check=False, capture_output=True)
    return asked.returncode == 0


@pytest.fixture(scope="module")
def python() -> str:
    """A Python that has atif-make."""
    asked = os.environ.get("ATIF_MAKE_PYTHON")
    for name in [asked] if asked else ["python3.12", "python3.13", "python3.14"]:
        found = shutil.which(name)
        if found and has_atif_make(found):
            return found
    pytest.skip("no Python of 3.12 or later has atif-make (set ATIF_MAKE_PYTHON)")


def steps(trajectory: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Steps of the agent and of its subagents."""
    yield from (step for step in trajectory["steps"] if step["source"] == "agent")
    for inner in trajectory.get("subagent_trajectories") or ():
        yield from steps(inner)


@pytest.mark.parametrize("folder", FOLDERS)
def test_responses_and_calls(shared: Path, tmp_path: Path, python: str, folder: str) -> None:
    files = sorted((shared / "sessions" / folder).iterdir())
    for path in [path for path in files if path.name not in DISAGREE]:
        copy = tmp_path / path.name
        shutil.copyfile(path, copy)
        command = [python, "-c", RUN, "convert", str(copy), "--json", "-q"]
        shown = subprocess.run(command, capture_output=True, check=True).stdout
        theirs = list(steps(json.loads(shown)))
        (file,) = import_files([path])
        counts = file.drain().counts
        calls = sum(len(step.get("tool_calls") or ()) for step in theirs)
        assert (counts.turns, counts.tool_calls) == (len(theirs), calls), path.name
