"""Turns and calls of recorded files are those that a few lines count in the raw rows."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.support.sessions.at_hand import recordings
from tests.support.sessions.counting import COUNTERS, chat_messages, claude_code, swe_agent
from tests.support.spellings import SPELLINGS, conversations
from traces.importing.importer import import_files


def objects(file: Path) -> list[Any]:
    """The objects of the file, whatever holds them; what is no JSON is left out."""
    if file.suffix == ".parquet":
        return list(pyarrow.parquet.read_table(file).to_pylist())
    try:
        return [json.loads(file.read_bytes())]
    except ValueError:
        rows = []
    for line in file.read_bytes().split(b"\n"):
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return [row for row in rows if isinstance(row, dict)]


@pytest.mark.parametrize("name", COUNTERS)
def test_turns_and_calls(name: str) -> None:
    count, patterns = COUNTERS[name]
    files = recordings(*patterns)
    assert files
    for path in files:
        (file,) = import_files([path])
        counts = file.drain().counts
        assert (counts.turns, counts.tool_calls) == count(objects(path)), path.name


ONE_ANSWER_PER_REQUEST = {"aider", "prompts"}
CALLS_AS_TEXT = {"swe-agent", "mini-swe-agent", "aider", "aider-llm", "vllm-log", "prompts"}


@pytest.mark.parametrize("name", SPELLINGS)
def test_made_up_recordings_hold_what_was_made_up(tmp_path: Path, name: str) -> None:
    spelling = SPELLINGS[name]
    talks = conversations(3, 2 if spelling.many else 1, 5)
    path = tmp_path / "recording"
    path.write_bytes(spelling.write(talks))
    (file,) = import_files([path])
    counts = file.drain().counts
    exchanges = [exchange for talk in talks for exchange in talk.exchanges]
    users = sum(exchange.user is not None for exchange in exchanges)
    calls = sum(len(exchange.calls) for exchange in exchanges)
    assert counts.turns == (users if name in ONE_ANSWER_PER_REQUEST else len(exchanges))
    assert counts.tool_calls == (0 if name in CALLS_AS_TEXT else calls)


def test_a_turn_is_a_response_whatever_the_user_asked_before(root: Path) -> None:
    """docs/formats/README.md names these numbers."""
    responses = requests = 0
    for path in sorted((root / "traces" / "samples").iterdir()):
        rows = objects(path)
        if path.name.startswith("claude"):
            responses += claude_code(rows)[0]
            said = [row["message"]["content"] for row in rows if row["type"] == "user"]
            requests += sum(isinstance(content, str) for content in said)
        elif path.suffix == ".traj":
            responses += swe_agent(rows)[0]
            requests += sum(message["role"] == "user" for message in rows[0]["history"])
        else:
            responses += sum(chat_messages(row["messages"])[0] for row in rows)
            roles = [message["role"] for row in rows for message in row["messages"]]
            requests += roles.count("user")
    files = [file.drain() for file in import_files([root / "traces" / "samples"])]
    assert (responses, requests) == (349, 121)
    assert sum(file.counts.turns for file in files) == responses
