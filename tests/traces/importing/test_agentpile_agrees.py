"""agentpile 0.3.1 as a second opinion: responses and calls of the files both programs read.

Known disagreements, decided by reading the source:

* It counts a response of the model ``<synthetic>`` (an API error shown to the user) as a step.
* It leaves out trajectories of subagents that a trajectory holds inside.
* It does not read web exports with ``loglines``, nor span lists that are not OTLP.
* Of an OTLP trace it leaves out the spans of agents that run as tools; each is a request here.
"""

from pathlib import Path
from typing import Any

import agentpile
import pytest

from tests.support.sessions.at_hand import recordings
from traces.importing.importer import import_files

DISAGREE = {
    "synthetic-error.jsonl": "synthetic",
    "subagents.json": "subagents inside",
    "microsoft-vscode-copilot-chat__98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl": "synthetic",
    "simonw-claude-code-transcripts__claude-web_sample_session.json": "web export",
    "pypi-agentpile-0.3.1__openai_agents_0.24.0_oi_2.5.3_as_tool.json": "agent as a tool",
    "pypi-agentpile-0.3.1__pydantic_ai_2.58.0_delegation.json": "agent as a tool",
}


def value(step: Any, key: str) -> Any:
    return step.get(key) if isinstance(step, dict) else getattr(step, key, None)


def second_opinion(path: Path, reader: str | None) -> tuple[int, int]:
    loaded = agentpile.load(str(path), reader=reader) if reader else agentpile.load(str(path))
    steps = [step for run in loaded for step in run.steps]
    answers = [step for step in steps if value(step, "source") == "agent"]
    return len(answers), sum(len(value(step, "tool_calls") or ()) for step in answers)


FILES = [
    (path, reader)
    for pattern, reader in (
        ("claude-code/*.jsonl", "claude-code-jsonl"),
        ("atif/*", None),
        ("otel/pypi-agentpile*", None),
    )
    for path in recordings(pattern)
    if path.name not in DISAGREE
]


@pytest.mark.parametrize(("path", "reader"), FILES, ids=lambda value: getattr(value, "name", ""))
def test_responses_and_calls(path: Path, reader: str | None) -> None:
    (file,) = import_files([path])
    counts = file.drain().counts
    assert (counts.turns, counts.tool_calls) == second_opinion(path, reader)
