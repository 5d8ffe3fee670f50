"""agentpile 0.3.1 as a second opinion: responses and calls of the files both programs read.

Known disagreements, decided by reading the source:

* It counts a response of the model ``<synthetic>`` (an API error shown to the user) as a step.
* It does not read web exports with ``loglines``, nor span lists that are not OTLP.
* Of an OTLP trace it leaves out the spans of agents that run as tools; each is a request here.
"""

from pathlib import Path
from typing import Any

import pytest

from traces.importing.importer import import_files

DISAGREE = {
    "microsoft-vscode-copilot-chat__98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl": "synthetic",
    "simonw-claude-code-transcripts__claude-web_sample_session.json": "web export",
    "pypi-agentpile-0.3.1__openai_agents_0.24.0_oi_2.5.3_as_tool.json": "agent as a tool",
    "pypi-agentpile-0.3.1__pydantic_ai_2.58.0_delegation.json": "agent as a tool",
}


def value(step: Any, key: str) -> Any:
    return step.get(key) if isinstance(step, dict) else getattr(step, key, None)


def second_opinion(path: Path, reader: str | None) -> tuple[int, int]:
    agentpile = pytest.importorskip("agentpile")
    loaded = agentpile.load(str(path), reader=reader) if reader else agentpile.load(str(path))
    steps = [step for run in loaded for step in run.steps]
    answers = [step for step in steps if value(step, "source") == "agent"]
    return len(answers), sum(len(value(step, "tool_calls") or ()) for step in answers)


@pytest.mark.parametrize(
    ("folder", "pattern", "reader"),
    [
        ("claude-code", "*.jsonl", "claude-code-jsonl"),
        ("atif", "*", None),
        ("otel", "pypi-agentpile*", None),
    ],
)
def test_responses_and_calls(shared: Path, folder: str, pattern: str, reader: str | None) -> None:
    pytest.importorskip("agentpile")
    files = [
        path
        for path in sorted((shared / "sessions" / folder).glob(pattern))
        if path.name not in DISAGREE
    ]
    assert files
    for path in files:
        (file,) = import_files([path])
        counts = file.drain().counts
        assert (counts.turns, counts.tool_calls) == second_opinion(path, reader), path.name
