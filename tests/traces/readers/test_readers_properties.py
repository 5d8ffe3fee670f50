"""Damage of any kind ends in a warning or a counted row, and what is left still holds together."""

import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.sessions.at_hand import recordings, spelled
from tests.support.sessions.damage import damaged
from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import (
    claude,
    codex,
    codex_item,
    codex_said,
    lines,
    result,
    use,
)
from tests.support.spellings import SPELLINGS
from traces.importing.importer import import_files
from traces.session.session import Session

MAX_BYTES = 60_000

CLAUDE = lines(
    claude("user", "u1", None, "go"),
    claude("assistant", "a1", "u1", use("c1", command="ls"), message="m1"),
    claude("assistant", "a2", "a1", use("c2", command="pwd"), message="m1"),
    claude("user", "r1", "a1", result("c1")),
    claude("user", "r2", "a2", result("c2")),
    claude("assistant", "a3", "r2", "end", message="m2"),
    claude("user", "u2", "a3", "more"),
    claude("assistant", "a4", "u2", [{"type": "thinking", "thinking": "hm"}], message="m3"),
)
CODEX = lines(
    codex("session_meta", id="s", base_instructions={"text": "be brief"}),
    codex_said("user", "go"),
    codex_item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
    codex_item("function_call", name="f", arguments="{}", call_id="c1"),
    codex_item("function_call_output", call_id="c1", output="ok"),
    codex("compacted", message="so far", replacement_history=[]),
    codex_said("user", "more"),
    codex_said("assistant", "end"),
)


def check_damaged(data: bytes, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        path.write_bytes(damaged(data, random.Random(seed)))
        (file,) = import_files([path])
        sessions: list[Session] = list(file.sessions)
        if file.format is not None:
            check_file(file, sessions)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.sampled_from([CLAUDE, CODEX]), seed=st.integers(0, 2**32))
def test_damaged_logs(data: bytes, seed: int) -> None:
    check_damaged(data, seed)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(sorted(SPELLINGS)), seed=st.integers(0, 2**32))
def test_damage_to_every_format(name: str, seed: int) -> None:
    check_damaged(spelled(name), seed)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_damaged_files(seed: int) -> None:
    small = [path for path in recordings("*/**/*") if path.stat().st_size < MAX_BYTES]
    check_damaged(random.Random(seed).choice(small).read_bytes(), seed)


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_bytes_at_all(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        path.write_bytes(content)
        (file,) = import_files([path])
        check = list(file.sessions)
        assert file.format is not None or not check


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking"]) | JSON,
        "text": JSON,
        "id": JSON,
        "tool_use_id": JSON,
        "name": JSON,
        "input": JSON,
        "content": JSON,
        "source": JSON,
    },
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool"])},
    optional={
        "content": st.text(max_size=8) | st.lists(BLOCK, max_size=3) | JSON,
        "tool_calls": st.lists(BLOCK | JSON, max_size=3) | JSON,
        "tool_call_id": JSON,
        "reasoning": JSON,
    },
)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=st.lists(MESSAGE, min_size=1, max_size=8))
def test_any_chat(messages: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        path.write_bytes(lines({"messages": messages}))
        (file,) = import_files([path], format="chat-messages")
        check_file(file, list(file.sessions))


@pytest.mark.parametrize("cut", [1, 2, 17, 59])
def test_a_torn_tail_costs_one_row(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "recording"
    path.write_bytes(CLAUDE)
    (whole,) = import_files([path])
    turns = whole.drain().counts.turns
    path.write_bytes(CLAUDE[: -1 - cut])
    (torn,) = import_files([path])
    assert torn.drain().counts.turns == turns - 1
    assert torn.ledger.rows == whole.ledger.rows
    assert torn.skipped["torn_tail"] == 1
