"""Formats and forms of which no recorded file is at hand, in the smallest file that has them."""

import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support.sessions.invariants import check_file
from tests.support.sessions.recordings import claude, lines, read, texts
from traces.errors import InputError
from traces.importing.importer import import_files
from traces.session.file import write_sessions
from traces.session.render import chat_request
from traces.session.session import Session


def prompts_of(session: Session) -> list[list[str]]:
    """Role and content of the messages of every turn's request."""
    return [texts(chat_request(session, turn)["messages"]) for turn in session.turns]


def test_a_request_log_is_chained_to_sessions(tmp_path: Path) -> None:
    def row(said: list[str], answer: str, **more: Any) -> dict[str, Any]:
        roles = ("user", "assistant")
        messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
        message = {"role": "assistant", "content": answer}
        response = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
        request = {"model": "m", "temperature": 0.5, "messages": messages, **more}
        return {"request": request, "response": response}

    file, sessions = read(
        tmp_path,
        lines(
            row(["a"], "b"),
            row(["x"], "y"),
            row(["a", "b", "c"], "d", max_tokens=7, tool_choice="none", tools=[{"name": "f"}]),
            row(["x", "y", "z"], "w"),
        ),
    )
    check_file(file, sessions)
    assert file.format == "request-log"
    assert [prompts_of(session) for session in sessions] == [
        [["user: a"], ["user: a", "assistant: b", "user: c"]],
        [["user: x"], ["user: x", "assistant: y", "user: z"]],
    ]
    request = chat_request(sessions[0], sessions[0].turns[1], model="served")
    assert (request["model"], request["temperature"]) == ("served", 0.5)
    assert (request["max_tokens"], request["tool_choice"]) == (7, "none")


def test_litellm_spend_logs_hold_json_in_strings(tmp_path: Path) -> None:
    answer = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    row = {
        "call_type": "acompletion",
        "custom_llm_provider": "openai",
        "session_id": "s-9",
        "model": "m",
        "messages": "{}",
        "response": json.dumps(answer),
        "proxy_server_request": json.dumps({"messages": [{"role": "user", "content": "hello"}]}),
    }
    file, (session,) = read(tmp_path, lines(row))
    check_file(file, [session])
    assert session.session_id == "s-9"
    assert prompts_of(session) == [["user: hello"]]


def test_batch_files_pair_by_custom_id(tmp_path: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    done = {"body": {"choices": [{"message": {"content": "hi"}}]}}
    file, (session,) = read(
        tmp_path,
        lines(
            {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": body},
            {"custom_id": "1", "response": done},
        ),
    )
    check_file(file, [session])
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "hi"


def otlp(*spans: dict[str, Any]) -> bytes:
    """Spans as an OTLP JSON export."""
    exported = [
        {
            "traceId": "t1",
            "spanId": str(number),
            "name": "chat",
            "startTimeUnixNano": str(10**18 + number),
            "attributes": [
                {
                    "key": k,
                    "value": {"stringValue": v} if isinstance(v, str) else {"intValue": str(v)},
                }
                for k, v in span.items()
            ],
        }
        for number, span in enumerate(spans)
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": exported}]}]}).encode()


def test_flattened_spans(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        otlp(
            {
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "hello",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "hi",
                "gen_ai.completion.0.tool_calls.0.id": "c1",
                "gen_ai.completion.0.tool_calls.0.name": "f",
                "gen_ai.completion.0.tool_calls.0.arguments": "{}",
                "gen_ai.usage.output_tokens": 4,
                "gen_ai.request.max_tokens": 9,
            }
        ),
    )
    check_file(file, [session])
    assert prompts_of(session) == [["user: hello"]]
    assert session.stats.tool_calls == 1
    usage = session.turns[0].usage
    assert usage is not None
    assert usage.completion == 4
    assert chat_request(session, session.turns[0])["max_tokens"] == 9


def test_a_truncated_span_is_counted(tmp_path: Path) -> None:
    whole = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hello"}]}])
    file, (session,) = read(
        tmp_path,
        otlp(
            {"gen_ai.operation.name": "chat", "gen_ai.input.messages": whole},
            {"gen_ai.operation.name": "chat", "gen_ai.input.messages": whole[:-9]},
        ),
    )
    check_file(file, [session])
    assert file.skipped == {"truncated_or_no_content": 1}
    assert session.turns[0].output is None


def test_gemini_patches_and_superseded_rows(tmp_path: Path) -> None:
    file, (session,) = read(
        tmp_path,
        lines(
            {"sessionId": "g", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"},
            {"id": "1", "type": "user", "content": [{"text": "hello"}]},
            {"id": "2", "type": "gemini", "content": "draft"},
            {"$set": {"lastUpdated": "2026-01-01T00:00:01Z"}},
            {"id": "2", "type": "gemini", "content": "final", "thoughts": [{"subject": "s"}]},
        ),
    )
    check_file(file, [session])
    assert file.skipped == {"patch_of_header": 1, "superseded": 1}
    output = session.output(session.turns[0])
    assert output is not None
    assert output.text == "final"
    assert session.turns[0].reasoning == "summary"


def test_gemini_checkpoint(tmp_path: Path) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "hello"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {"d": "."}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "ls", "response": {"output": "a.txt"}}}],
        },
        {"role": "model", "parts": [{"text": "end"}]},
    ]
    file, (session,) = read(tmp_path, json.dumps(contents).encode())
    check_file(file, [session])
    assert file.format == "gemini-cli"
    assert prompts_of(session)[1] == ["user: hello", "assistant: ", "tool: a.txt"]


def test_opencode_export_splits_steps(tmp_path: Path) -> None:
    done = {"status": "completed", "input": {"command": "ls"}, "output": "a.txt"}
    export = {
        "info": {"id": "ses_1", "version": "1.1"},
        "messages": [
            {"info": {"role": "user"}, "parts": [{"type": "text", "text": "hello"}]},
            {
                "info": {"role": "assistant", "id": "m1", "modelID": "x"},
                "parts": [
                    {"type": "step-start"},
                    {"type": "tool", "callID": "c1", "tool": "bash", "state": done},
                    {"type": "step-finish", "reason": "tool-calls"},
                    {"type": "step-start"},
                    {
                        "type": "tool",
                        "callID": "c2",
                        "tool": "bash",
                        "state": {"status": "running"},
                    },
                ],
            },
            {"info": {"role": "assistant", "error": {"name": "MessageAbortedError"}}, "parts": []},
        ],
    }
    file, (session,) = read(tmp_path, json.dumps(export).encode())
    check_file(file, [session])
    assert [turn.finish_reason for turn in session.turns] == ["tool_calls", None]
    assert session.stats.unanswered == 1
    assert file.skipped == {"response_MessageAbortedError": 1}


def test_openhands_parallel_calls_and_condensation(tmp_path: Path) -> None:
    def call(number: int) -> dict[str, Any]:
        return {"id": f"c{number}", "function": {"name": "run", "arguments": "{}"}}

    def response(name: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": name, "choices": [{"message": {"content": "", "tool_calls": calls}}]}

    def step(
        event: int, kind: str, name: str, answer: dict[str, Any], number: int
    ) -> dict[str, Any]:
        metadata = {"tool_call_id": f"c{number}", "model_response": answer}
        body = {"content": f"result {number}"} if kind == "observation" else {"args": {}}
        source = "agent" if kind == "action" else "environment"
        return {"id": event, kind: name, "source": source, "tool_call_metadata": metadata, **body}

    both = response("r1", [call(1), call(2)])
    last = response("r2", [call(3)])
    tool = {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}
    start = {"content": "be brief", "tools": [tool]}
    events = [
        {"id": 0, "source": "agent", "action": "system", "args": start},
        {"id": 1, "source": "user", "action": "message", "args": {"content": "hello"}},
        step(2, "action", "run", both, 1),
        step(3, "action", "run", both, 2),
        step(4, "observation", "run", both, 1),
        step(5, "observation", "run", both, 2),
        {
            "id": 6,
            "source": "agent",
            "action": "condensation",
            "args": {"forgotten_event_ids": [2, 3, 4, 5], "summary": "ran", "summary_offset": 2},
        },
        step(7, "action", "run", last, 3),
    ]
    file, (session,) = read(tmp_path, json.dumps(events).encode())
    check_file(file, [session])
    assert prompts_of(session) == [
        ["system: be brief", "user: hello"],
        ["system: be brief", "user: hello\n\nran"],
    ]
    assert session.turns[1].restart == "compaction"
    assert session.stats.tool_calls == 3
    assert next(iter(session.toolsets.values())).provenance == "recorded"


def test_atif_copied_steps_are_history_only(tmp_path: Path) -> None:
    steps = [
        {"step_id": 1, "source": "user", "message": "hello", "is_copied_context": True},
        {"step_id": 2, "source": "agent", "message": "old", "is_copied_context": True},
        {"step_id": 3, "source": "user", "message": "more"},
        {"step_id": 4, "source": "agent", "message": "new"},
        {"step_id": 5, "source": "agent", "message": "sum", "llm_call_count": 3},
    ]
    row = {"schema_version": "1.4", "session_id": "a", "agent": {"name": "x"}, "steps": steps}
    file, (session,) = read(tmp_path, json.dumps(row, indent=1).encode())
    check_file(file, [session])
    assert prompts_of(session)[0] == ["user: hello", "assistant: old", "user: more"]
    assert [turn.skip_reason for turn in session.turns] == [None, "several_responses_in_one_step"]


def test_pi_tree_and_compaction(tmp_path: Path) -> None:
    def row(name: str, parent: str | None, role: str, said: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": said}], "stopReason": "stop"}
        return {"type": "message", "id": name, "parentId": parent, "message": message}

    compact = {"type": "compaction", "id": "k", "parentId": "4", "summary": "so far"}
    file, (session,) = read(
        tmp_path,
        lines(
            {"type": "session", "id": "p", "version": 3, "cwd": "/x"},
            row("1", None, "user", "hello"),
            row("2", "1", "assistant", "left"),
            row("3", "1", "assistant", "right"),
            row("4", "3", "user", "more"),
            {**compact, "firstKeptEntryId": "4"},
            {"type": "label", "id": ["odd"]},
            row("5", "k", "assistant", "end"),
        ),
    )
    check_file(file, [session])
    assert prompts_of(session) == [["user: hello"], ["user: so far\n\nmore"]]
    assert file.skipped == {"abandoned_branch": 1, "label": 1}


def test_kimi_prompts_and_tools(tmp_path: Path) -> None:
    def step(name: str) -> list[dict[str, Any]]:
        part = {"type": "content.part", "stepUuid": name, "part": {"type": "text", "text": name}}
        events = [part, {"type": "step.end", "stepUuid": name, "finishReason": "end_turn"}]
        return [{"type": "context.append_loop_event", "event": event} for event in events]

    tools = [{"name": "ls", "description": "lists", "parameters": {"type": "object"}}]
    user = {"role": "user", "content": "go", "origin": {"kind": "user"}}
    file, (session,) = read(
        tmp_path,
        lines(
            {"type": "config.update", "systemPrompt": "be brief"},
            {"type": "llm.tools_snapshot", "tools": "[cut"},
            {"type": "context.append_message", "message": user},
            *step("one"),
            {"type": "config.update", "systemPrompt": "be brief"},
            {"type": "config.update", "systemPrompt": "be verbose"},
            {"type": "llm.tools_snapshot", "tools": json.dumps(tools)},
            {"type": "context.append_message", "message": {"role": "nobody", "content": "x"}},
            *step("two"),
        ),
    )
    check_file(file, [session])
    assert file.skipped == {"llm.tools_snapshot": 1, "no_message": 1, "system_prompt": 1}
    assert [warning.row for warning in file.warnings if warning.code == "parts_left_out"] == [7]
    offered = [session.toolsets[turn.toolset or ""].provenance for turn in session.turns]
    assert offered == ["missing", "recorded"]
    assert chat_request(session, session.turns[1])["tools"][0]["function"]["name"] == "ls"


def test_aider_history(tmp_path: Path) -> None:
    page = (
        "\n# aider chat started at 2026-01-01 09:00:00\n\n> Aider v0.80\n\n"
        "#### fix it  \n#### please  \n\nSure:\n\n```python\n# aider is not a heading here\n```\n"
        "\n> Applied edit to a.py\n\n#### thanks\n\nWelcome.\n"
    )
    file, (session,) = read(tmp_path, page.encode())
    check_file(file, [session])
    assert prompts_of(session)[0] == ["user: fix it\nplease"]
    assert {turn.fidelity for turn in session.turns} == {"lossy"}
    assert len(session.turns) == 2


def test_swe_agent_steps_keep_the_exact_prompt(tmp_path: Path) -> None:
    user = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    asked = {"role": "assistant", "content": "one", "agent": "main", "message_type": "action"}
    elided = {"role": "user", "content": "Old environment output: (9 lines omitted)"}
    steps = [
        {"action": "a", "observation": "o", "response": "one", "thought": "", "messages": [user]},
        {
            "action": "b",
            "observation": "p",
            "response": "two",
            "thought": "",
            "messages": [user, asked, elided],
        },
    ]
    settings = {"agent": {"model": {"name": "m", "temperature": 0.0}}}
    document = {"trajectory": steps, "history": [], "replay_config": json.dumps(settings)}
    file, (session,) = read(tmp_path, json.dumps(document).encode())
    check_file(file, [session])
    assert {turn.fidelity for turn in session.turns} == {"exact"}
    assert prompts_of(session)[1][2].startswith("user: Old environment output")
    assert chat_request(session, session.turns[0])["temperature"] == 0.0


@pytest.mark.parametrize(
    "row",
    [
        {"question_id": 7, "category": "coding", "turns": ["hello", "more"]},
        {"prompt": "hello"},
        {"messages": [{"role": "user", "content": "hello"}]},
    ],
)
def test_prompts_without_answers(tmp_path: Path, row: dict[str, Any]) -> None:
    file, (session,) = read(tmp_path, lines(row))
    check_file(file, [session])
    assert prompts_of(session) == [["user: hello"]]
    assert session.turns[0].output is None
    assert session.turns[0].replayable


def test_share_gpt_roles(tmp_path: Path) -> None:
    said = [
        {"from": "system", "value": "be brief"},
        {"from": "human", "value": "hello"},
        {"from": "function_call", "value": '{"name": "ls", "arguments": {"d": "."}}'},
        {"from": "observation", "value": "a.txt"},
        {"from": "gpt", "value": "end"},
    ]
    file, (session,) = read(tmp_path, lines({"conversations": said}))
    check_file(file, [session])
    assert prompts_of(session)[1] == [
        "system: be brief",
        "user: hello",
        "assistant: ",
        "tool: a.txt",
    ]


def test_load_shapes_are_recognized(tmp_path: Path) -> None:
    row = {"timestamp": 0, "input_length": 9, "output_length": 3, "hash_ids": [1, 2]}
    file, sessions = read(tmp_path, lines(row, row))
    assert sessions == []
    assert file.format == "load-trace-mooncake"
    assert file.reason is not None
    assert "without text" in file.reason
    assert file.skipped == {"load_shape_only": 2}
    row["messages"] = [{"role": "user", "content": "go"}]
    file, sessions = read(tmp_path, lines(row, row))
    assert file.format == "chat-messages"
    assert len(sessions) == 2


ONE = lines(claude("user", "u1", None, "go"), claude("assistant", "a1", "u1", "x", message="m"))


def test_compressed_folders_and_globs(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl.gz").write_bytes(gzip.compress(ONE))
    (tmp_path / "in" / "b").write_bytes(zstandard.compress(ONE))
    (tmp_path / "in" / ".hidden").write_bytes(ONE)
    (tmp_path / "in" / "c.txt").write_text("notes")
    files = [file.drain() for file in import_files([tmp_path / "in"])]
    assert [file.format for file in files] == ["claude-code", "claude-code", None]
    assert [file.counts.turns for file in files] == [1, 1, 0]
    assert len(list(import_files([str(tmp_path / "in" / "*.gz")]))) == 1
    again = list(import_files([tmp_path / "in" / "b", tmp_path / "in"]))
    assert len(again) == 3


def test_names_that_cannot_be_printed(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    for name in (b"a\xffb.jsonl", b"c\x1b[2J\nd.jsonl", "caf\u00e9.jsonl".encode()):
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(ONE)
    files = [file.drain() for file in import_files([tmp_path])]
    names = [Path(file.file).name for file in files]
    assert sorted(names) == ["a\ufffdb.jsonl", "caf\u00e9.jsonl", "c\ufffd[2J\ufffdd.jsonl"]
    sessions = [session for file in import_files([tmp_path]) for session in file.sessions]
    assert write_sessions(sessions, tmp_path / "sessions.jsonl") == 3


def test_session_ids_stay_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(ONE)
    sessions = [s.session_id for file in import_files([tmp_path]) for s in file.sessions]
    assert sessions == ["s-1", "s-1~2"]


def test_tags_and_unknown_paths(tmp_path: Path) -> None:
    _, (session,) = read(tmp_path, ONE, tags={"template": "v7"})
    assert session.tags == {"template": "v7"}
    assert session.system.name == "v7"
    with pytest.raises(InputError, match="no such file"):
        list(import_files([tmp_path / "missing"]))
    with pytest.raises(InputError, match="no session format"):
        list(import_files([tmp_path], format="nonsense"))


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_torn_archive_is_read_up_to_the_damage(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    noise = random.Random(5).randbytes(400_000).hex()
    more = claude("user", "u2", "a1", noise)
    torn = compress(ONE + lines(more))[:-1000]
    file, sessions = read(tmp_path, torn)
    assert file.counts.turns == len(sessions) == 1
    codes = {warning.code for warning in file.warnings}
    assert codes & {"damaged_archive", "torn_tail"}


def test_request_bodies_ask_for_an_answer(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "more"},
    ]
    choice = {"type": "function", "function": {"name": "f"}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    body = {"model": "m", "max_tokens": 5, "messages": said, "tools": tools, "tool_choice": choice}
    file, (session,) = read(tmp_path, lines(body))
    check_file(file, [session])
    assert [turn.output is None for turn in session.turns] == [False, True]
    request = chat_request(session, session.turns[1])
    assert (request["max_tokens"], request["tool_choice"]) == (5, choice)
    assert texts(request["messages"])[-1] == "user: more"


def test_ids_stay_unique_whatever_they_look_like(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    _, sessions = read(
        tmp_path, lines({"id": "a", "messages": said}, {"id": "a", "messages": said})
    )
    assert [session.session_id for session in sessions] == ["a", "a~2"]
    written = tmp_path / "sessions.jsonl"
    write_sessions(sessions, written)
    (tmp_path / "again").write_bytes(written.read_bytes())
    files = import_files([written, tmp_path / "again"])
    names = [session.session_id for file in files for session in file.sessions]
    assert names == ["a", "a~2", "a~2~2", "a~2~3"]


LLM_HISTORY = """
TO LLM 2026-01-05T09:00:00
-------
SYSTEM be brief
SYSTEM 
SYSTEM really
-------
USER TO LLM 2026-01-05T09:00:00
USER -------
LLM RESPONSE 2026-01-05T09:00:05
ASSISTANT one
TO LLM 2026-01-05T09:01:00
-------
SYSTEM be brief
SYSTEM 
SYSTEM really
-------
USER TO LLM 2026-01-05T09:00:00
USER -------
-------
ASSISTANT one
-------
USER text: with
an image
LLM RESPONSE 2026-01-05T09:01:09
ASSISTANT two
TO LLM 2026-01-05T09:02:00
-------
USER other
LLM RESPONSE 2026-01-05T09:02:01
ASSISTANT 
"""


def test_the_log_of_what_aider_sent(tmp_path: Path) -> None:
    file, sessions = read(tmp_path, LLM_HISTORY.encode())
    check_file(file, sessions)
    assert file.format == "aider-llm-history"
    assert file.skipped == {"before_first_prompt": 1}
    first, second = sessions
    system, asked = "system: be brief\n\nreally", "user: TO LLM 2026-01-05T09:00:00\n-------"
    assert prompts_of(first) == [
        [system, asked],
        [system, asked, "assistant: one", "user: text: with\nan image"],
    ]
    assert [turn.fidelity for turn in first.turns] == ["rebuilt", "rebuilt"]
    output = first.output(first.turns[1])
    assert output is not None
    assert output.text == "two"
    assert second.turns[0].skip_reason == "response_empty"


def vllm_line(level: str, words: str) -> bytes:
    return f"(APIServer pid=7) {level} 01-05 09:00:00 [request_logger.py:66] {words}".encode()


def test_requests_in_the_log_of_a_vllm_server(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
    said = [{"role": "user", "content": "go\u2028on"}]
    body = {"model": "m", "messages": said, "tools": [tool], "temperature": 0.5}
    longer = [*said, {"role": "assistant", "content": "one"}, {"role": "user", "content": "more"}]
    written = json.dumps(body, ensure_ascii=False)
    file, (session,) = read(
        tmp_path,
        b"\n".join(
            [
                vllm_line("INFO", "Started server process"),
                vllm_line("DEBUG", f"Request a JSON body: {written}"),
                vllm_line("INFO", "Received request chatcmpl-a: params: SamplingParams(n=1)"),
                vllm_line("INFO", "Generated response chatcmpl-a: output: 'one', finish_reason: x"),
                vllm_line(
                    "DEBUG", f"Request b JSON body: {json.dumps({**body, 'messages': longer})}"
                ),
                vllm_line("DEBUG", f"Request c JSON body: {written[:60]}"),
            ]
        ),
    )
    check_file(file, [session])
    assert file.format == "vllm-log"
    assert file.skipped == {
        "other_log_line": 2,
        "request_body_cut": 1,
        "request_without_messages": 1,
    }
    assert prompts_of(session) == [
        ["user: go\u2028on"],
        ["user: go\u2028on", "assistant: one", "user: more"],
    ]
    request = chat_request(session, session.turns[0])
    assert (request["model"], request["temperature"], len(request["tools"])) == ("m", 0.5, 1)


def test_a_vllm_log_without_bodies_says_what_is_missing(tmp_path: Path) -> None:
    prompt = "Received request cmpl-a: prompt: '<|im_start|>user', params: SamplingParams(n=1)"
    file, sessions = read(tmp_path, vllm_line("INFO", prompt))
    check_file(file, sessions)
    assert file.format == "vllm-log"
    assert file.reason is not None
    assert "without request bodies" in file.reason
    assert file.fix is not None
    assert "VLLM_LOGGING_LEVEL=DEBUG" in file.fix
