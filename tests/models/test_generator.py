"""The session generator: deterministic, varied, and consistent with its own tools."""

import json
from collections import Counter

import jsonschema
import pytest

from models.generator.recording import assistant_blocks, swe_agent, with_text_arguments
from models.generator.session import session
from models.generator.stories import STORIES
from models.generator.styles import STYLES

SESSIONS = [session(f"test-{i}", STORIES, 2) for i in range(400)]


def calls_of(record):
    return [
        call["function"] for message in record["messages"] for call in message.get("tool_calls", [])
    ]


def text_of(record):
    return json.dumps(record["messages"], ensure_ascii=False)


def test_a_seed_fixes_the_text():
    assert session("same", STORIES, 3) == session("same", STORIES, 3)
    assert session("same", STORIES, 3) != session("other", STORIES, 3)


def test_every_agent_appears_with_its_own_system_prompt():
    styles = Counter(record["style"] for record in SESSIONS)
    assert set(styles) == {style.name for style in STYLES}
    assert min(styles.values()) > len(SESSIONS) // 10
    openings = {
        record["messages"][0]["content"][:20]
        for record in SESSIONS
        if record["messages"][0]["role"] == "system"
    }
    assert len(openings) >= 4


def test_at_least_eight_tools_are_called():
    used = Counter(call["name"] for record in SESSIONS for call in calls_of(record))
    assert len([name for name, count in used.items() if count >= 5]) >= 8


def test_calls_satisfy_the_schemas_that_are_offered():
    for record in SESSIONS:
        offered = {t["function"]["name"]: t["function"]["parameters"] for t in record["tools"]}
        for call in calls_of(record):
            jsonschema.validate(call["arguments"], offered[call["name"]])


def test_calls_satisfy_the_full_definitions_of_the_agent():
    full = {
        style.name: {t["function"]["name"]: t["function"]["parameters"] for t in style.definitions}
        for style in STYLES
    }
    for record in SESSIONS:
        for call in calls_of(record):
            jsonschema.validate(call["arguments"], full[record["style"]][call["name"]])


def test_each_call_is_answered_once_in_order():
    for record in SESSIONS:
        waiting = []
        for message in record["messages"]:
            if message["role"] == "tool":
                assert waiting.pop(0) == message["tool_call_id"]
            else:
                assert not waiting
                waiting = [call["id"] for call in message.get("tool_calls", [])]
        assert not waiting


@pytest.mark.parametrize(
    "mark",
    ["```python", "```typescript", "```go", "```shell", "```yaml", "```diff"],
)
def test_fences_of_every_language_occur(mark):
    assert any(mark in text_of(record) for record in SESSIONS)


@pytest.mark.parametrize(
    "mark",
    [
        "Traceback (most recent call last)",
        "--- FAIL:",
        "● test_",
        "no such file",
        "🚀",
        "\\t",
        '\\"',
    ],
)
def test_traces_errors_unicode_and_escapes_occur(mark):
    assert any(mark in text_of(record) for record in SESSIONS)


def test_diffs_stand_inside_arguments():
    arguments = [json.dumps(c["arguments"]) for r in SESSIONS for c in calls_of(r)]
    assert sum("@@ -" in text for text in arguments) > 20


def test_nested_json_parallel_calls_and_reasoning_occur():
    assert any(
        isinstance(value, dict) and any(isinstance(v, list | dict) for v in value.values())
        for record in SESSIONS
        for call in calls_of(record)
        for value in call["arguments"].values()
    )
    assistants = [m for r in SESSIONS for m in r["messages"] if m["role"] == "assistant"]
    assert any(len(m.get("tool_calls", [])) > 1 for m in assistants)
    reasoned = sum("reasoning_content" in m for m in assistants) / len(assistants)
    assert 0.1 < reasoned < 0.5


def test_long_files_are_read():
    longest = max(len(m["content"]) for r in SESSIONS for m in r["messages"] if m["role"] == "tool")
    assert longest > 4000


def test_determined_calls_are_copied_from_the_text_before():
    """Every path, ticket and file line that a determined read names stands before it."""
    seen = 0
    for record in SESSIONS:
        for index in record["determined"]:
            before = json.dumps(record["messages"][:index], ensure_ascii=False)
            for call in record["messages"][index]["tool_calls"]:
                for key in ("path", "file_path", "ticket_id", "id", "target"):
                    if key in call["function"]["arguments"]:
                        seen += 1
                        assert call["function"]["arguments"][key] in before
    assert seen > 100


def test_ids_are_not_repeated_between_sessions():
    keys = Counter(
        message["tool_call_id"]
        for record in SESSIONS
        for message in record["messages"]
        if message["role"] == "tool"
    )
    assert max(keys.values()) == 1


def test_recorded_forms_keep_text_reasoning_and_calls():
    record = next(r for r in SESSIONS if "reasoning_content" in text_of(r) and calls_of(r))
    for message in record["messages"]:
        if message["role"] == "assistant":
            blocks = assistant_blocks(message)
            inputs = [b["input"] for b in blocks if b["type"] == "tool_use"]
            wanted = [c["function"]["arguments"] for c in message.get("tool_calls", [])]
            assert inputs == wanted
            parsed = [
                json.loads(c["function"]["arguments"])
                for c in with_text_arguments(message).get("tool_calls", [])
            ]
            assert parsed == wanted


def test_a_trajectory_holds_the_exact_query_of_every_step():
    record = next(r for r in SESSIONS if r["style"] == "issue" and calls_of(r))
    whole = json.loads(swe_agent(record))
    assistants = [i for i, m in enumerate(whole["history"]) if m["role"] == "assistant"]
    assert len(whole["trajectory"]) == len(assistants)
    for step, index in zip(whole["trajectory"], assistants, strict=True):
        assert step["query"] == whole["history"][:index]


def test_every_agent_lists_its_tools_unless_set_otherwise():
    for style in STYLES:
        record = session("offers", STORIES, 3, style, bare=False)
        assert {c["name"] for c in calls_of(record)} <= {
            t["function"]["name"] for t in record["tools"]
        }
        assert session("offers", STORIES, 3, style, bare=False, offers=False)["tools"] == []
