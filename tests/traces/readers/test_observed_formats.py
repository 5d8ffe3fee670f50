"""Exports of tools that watch an application, in the forms in which they differ."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.sessions.faults import asked, codes, prompt
from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import lines, read
from tests.support.spellings import SPELLINGS, conversations
from traces.session.render import chat_request
from traces.session.session import Session

EXACT = ["langsmith", "langfuse", "openai-agents", "inspect", "inspect-eval", "converse",
         "tau-bench"]  # fmt: skip


def only(tmp_path: Path, *rows: Any) -> Session:
    """The one session of a file of those rows."""
    file, (session,) = read(tmp_path, lines(*rows))
    check_file(file, [session])
    return session


@pytest.mark.parametrize("name", EXACT)
def test_prompts_are_those_that_were_written(tmp_path: Path, name: str) -> None:
    (talk,) = conversations(5, 1, 4)
    _, (session,) = read(tmp_path, SPELLINGS[name].write([talk]))
    assert [turn.fidelity for turn in session.turns] == ["exact"] * 4
    first, *_, last = talk.exchanges
    assert prompt(session, 0) == [f"system: {talk.system}", f"user: {first.user}"]
    assert prompt(session, 3)[-1] == f"tool: {talk.exchanges[-2].calls[0].result}"
    output = session.output(session.turns[3])
    assert output is not None
    assert output.text == last.text
    call = first.calls[0]
    assert asked(session, 0) == [(call.id, call.tool, call.arguments)]


@pytest.mark.parametrize("name", ["langsmith", "langfuse", "openai-agents", "inspect", "converse"])
def test_settings_are_those_of_the_request(tmp_path: Path, name: str) -> None:
    _, (session,) = read(tmp_path, SPELLINGS[name].write(conversations(5, 1, 2)))
    request = chat_request(session, session.turns[0])
    assert (request["model"], request["temperature"]) == ("m", 0.5)


def test_langchain_messages_in_every_form(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "ls", "args": {"d": "."}, "type": "tool_call"}
    block = {"type": "tool_use", "id": "c1", "name": "ls", "input": {"d": "."}}
    said = [
        {"type": "system", "data": {"content": "be brief", "type": "system"}},
        {"role": "user", "content": "go"},
        {"type": "ai", "data": {"content": [block], "tool_calls": [call]}},
        {"type": "tool", "content": "a.py", "tool_call_id": "c1"},
    ]
    usage = {"input_tokens": 20, "output_tokens": 3}
    came = {"type": "ai", "data": {"content": "end", "usage_metadata": usage}}
    run = {"run_type": "llm", "trace_id": "t", "inputs": {"messages": said}}
    session = only(tmp_path, {**run, "outputs": {"generations": [[{"message": came}]]}})
    assert prompt(session, 0) == ["system: be brief", "user: go", "assistant: ", "tool: a.py"]
    history = session.prefix(session.turns[0])
    assert [len(message.tool_calls) for message in history] == [0, 0, 1, 0]
    counted = session.turns[0].usage
    assert counted is not None
    assert (counted.prompt, counted.completion) == (20, 3)


def test_a_trace_of_langfuse_holds_its_observations(tmp_path: Path) -> None:
    def generation(at: str, said: list[str], came: str) -> dict[str, Any]:
        roles = ("user", "assistant")
        sent = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
        counts = {"input": 5, "output": 1, "cache_read_input_tokens": 7}
        return {"type": "GENERATION", "startTime": at, "input": sent, "output": came,
                "usageDetails": counts}  # fmt: skip

    inner = [
        {"type": "SPAN", "startTime": "2026-01-01T00:00:00Z"},
        generation("2026-01-01T00:00:02Z", ["a", "b", "c"], "d"),
        generation("2026-01-01T00:00:01Z", ["a"], "b"),
    ]
    session = only(tmp_path, {"id": "t1", "sessionId": "s1", "observations": inner})
    assert session.session_id == "s1"
    assert [prompt(session, turn) for turn in (0, 1)] == [
        ["user: a"],
        ["user: a", "assistant: b", "user: c"],
    ]
    counted = session.turns[0].usage
    assert counted is not None
    assert counted.prompt == 12


def test_a_response_span_is_read_if_a_processor_kept_it(tmp_path: Path) -> None:
    span = {"object": "trace.span", "trace_id": "t"}
    alone = {**span, "span_data": {"type": "response", "response_id": "resp_1"}}
    said = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    ]
    response = {"model": "m", "instructions": "be brief", "output": said}
    whole = {"type": "response", "input": "hello", "response": response}
    file, (session,) = read(tmp_path, lines(alone, {**span, "span_data": whole}))
    assert file.skipped == {"span_response": 1}
    assert prompt(session, 0) == ["system: be brief", "user: hello"]


def test_what_inspect_put_aside_is_put_back(tmp_path: Path) -> None:
    long = {"role": "user", "content": "attachment://abc"}
    event = {"event": "model", "model": "m", "input": [], "input_refs": [[0, 1]]}
    output = {"choices": [{"message": {"role": "assistant", "content": "hi"}}]}
    sample = {
        "id": 1,
        "epoch": 2,
        "attachments": {"abc": "a long text"},
        "events_data": {"messages": [long]},
        "events": [{**event, "output": output}],
    }
    file, (session,) = read(tmp_path, json.dumps({"eval": {}, "samples": [sample]}).encode())
    check_file(file, [session])
    assert session.session_id == "1_epoch_2"
    assert prompt(session, 0) == ["user: a long text"]


def test_a_sample_of_inspect_without_events_is_rebuilt(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "one"}]
    sample = {"id": 1, "epoch": 1, "messages": said}
    _, (session,) = read(tmp_path, json.dumps({"eval": {}, "samples": [sample]}).encode())
    assert (prompt(session, 0), session.turns[0].fidelity) == (["user: go"], "rebuilt")


def test_converse_blocks_and_settings(tmp_path: Path) -> None:
    tool = {"toolSpec": {"name": "ls", "inputSchema": {"json": {"type": "object"}}}}
    shown = {"toolUseId": "c1", "content": [{"json": {"files": 1}}], "status": "error"}
    messages = [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"toolUse": {"toolUseId": "c1", "name": "ls", "input": {}}},
        ]},
        {"role": "user", "content": [{"toolResult": shown}, {"cachePoint": {"type": "default"}}]},
    ]  # fmt: skip
    body = {
        "modelId": "m",
        "messages": messages,
        "system": [{"text": "be brief"}],
        "toolConfig": {"tools": [tool]},
        "inferenceConfig": {"maxTokens": 7, "topP": 0.5, "stopSequences": ["x"]},
    }
    came = {"message": {"role": "assistant", "content": [{"text": "end"}]}}
    usage = {"inputTokens": 9, "outputTokens": 2, "cacheReadInputTokens": 4}
    answer = {"output": came, "stopReason": "max_tokens", "usage": usage}
    session = only(tmp_path, {"request": body, "response": answer})
    assert prompt(session, 0)[1:] == ["user: go", "assistant: ", 'tool: {"files":1}']
    request = chat_request(session, session.turns[0])
    assert (request["max_tokens"], request["top_p"], request["stop"]) == (7, 0.5, ["x"])
    assert [entry["function"]["name"] for entry in request["tools"]] == ["ls"]
    turn = session.turns[0]
    assert turn.usage is not None
    assert (turn.fidelity, turn.finish_reason, turn.usage.prompt) == ("exact", "length", 13)
    result = session.prefix(turn)[-1]
    assert (result.role, result.is_error) == ("tool", True)


def test_adk_leaves_out_what_was_streamed_twice(tmp_path: Path) -> None:
    def event(text: str, **more: Any) -> dict[str, Any]:
        content = {"role": "model", "parts": [{"text": text}]}
        return {"author": "agent", "invocationId": "i", "content": content, **more}

    user = {"role": "user", "parts": [{"text": "go"}]}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 2}
    events = [{"author": "user", "invocationId": "i", "content": user}, event("He", partial=True),
              event("Hello", usageMetadata=counts)]  # fmt: skip
    file, (session,) = read(tmp_path, json.dumps({"id": "s", "events": events}).encode())
    check_file(file, [session])
    assert file.format == "adk"
    assert file.skipped == {"superseded": 1}
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "Hello"
    assert codes(file) == []


def test_cursor_keeps_no_results(tmp_path: Path) -> None:
    _, (session,) = read(tmp_path, SPELLINGS["cursor"].write(conversations(5, 1, 4)))
    assert {turn.fidelity for turn in session.turns} == {"lossy"}
    assert session.stats.unanswered == session.stats.tool_calls > 0
