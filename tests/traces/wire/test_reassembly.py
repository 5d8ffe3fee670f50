"""Reassembly against the `openai` client's own reading of the same bytes, and field by field."""

import itertools
import json
import math
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traces.wire.capture import Capture, CaptureKey
from traces.wire.reassembly import response_of, response_of_chunks

KEY = CaptureKey("run", "candidate", "main", "s", "1")


def capture(raw: bytes, cuts: list[int], status: int = 200) -> Capture:
    edges = [0, *sorted({c % (len(raw) + 1) for c in cuts}), len(raw)]
    events = tuple((float(i), raw[a:b]) for i, (a, b) in enumerate(itertools.pairwise(edges)))
    return Capture(KEY, {}, status, 0.0, events, "done")


def body(chunks: list[dict[str, Any]], end: str = "\n", comments: bool = False) -> bytes:
    lines: list[str] = []
    for chunk in chunks:
        lines += [": keep-alive", ""] if comments else []
        lines += [f"data: {json.dumps(chunk, ensure_ascii=False)}", ""]
    return (end.join([*lines, "data: [DONE]", "", ""])).encode()


def read_by_openai(raw: bytes, cuts: list[int]) -> dict[str, Any]:
    """The same bytes, read by the openai client over an in-memory transport."""
    edges = [0, *sorted({c % (len(raw) + 1) for c in cuts}), len(raw)]
    parts = [raw[a:b] for a, b in itertools.pairwise(edges)]

    class Body(httpx.SyncByteStream):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield from parts

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())

    http = httpx.Client(transport=httpx.MockTransport(answer))
    client = openai.OpenAI(api_key="none", base_url="http://mock/v1", http_client=http)
    got: dict[str, Any] = {
        "content": "",
        "reasoning": "",
        "calls": {},
        "finish": None,
        "usage": None,
    }
    stream = client.chat.completions.create(model="m", messages=[], stream=True)
    for chunk in stream:
        if chunk.usage is not None:
            got["usage"] = chunk.usage.completion_tokens
        for choice in chunk.choices:
            got["content"] += choice.delta.content or ""
            extra = choice.delta.model_extra or {}
            got["reasoning"] += extra.get("reasoning") or extra.get("reasoning_content") or ""
            got["finish"] = choice.finish_reason or got["finish"]
            for part in choice.delta.tool_calls or []:
                call = got["calls"].setdefault(part.index, {"id": None, "name": None, "args": ""})
                call["id"] = call["id"] or part.id
                if part.function is not None:
                    call["name"] = call["name"] or part.function.name
                    call["args"] += part.function.arguments or ""
    return got


text = st.text(
    st.characters(exclude_categories=["Cs"], include_characters="\u2028\r\n\x85✅👨"), max_size=12
)
function = st.fixed_dictionaries(
    {}, optional={"name": st.sampled_from(["ls", "cat"]), "arguments": text}
)
call_part = st.fixed_dictionaries(
    {"index": st.integers(0, 2), "function": function},
    optional={"id": st.sampled_from(["c1", "c2"]), "type": st.just("function")},
)
delta = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("assistant"),
        "content": st.none() | text,
        "reasoning": text,
        "reasoning_content": text,
        "tool_calls": st.lists(call_part, max_size=3),
    },
)
chunk = st.builds(
    lambda delta, finish: {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    },
    delta,
    st.none() | st.none() | st.sampled_from(["stop", "tool_calls", "length"]),
)
last = {
    "id": "x",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [],
    "usage": {"prompt_tokens": 1, "completion_tokens": 5, "total_tokens": 6},
}


@settings(deadline=None, max_examples=150)
@given(
    st.lists(chunk, max_size=8),
    st.booleans(),
    st.lists(st.integers(0, 5000), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_the_openai_client_reads_the_same(
    chunks: list[dict[str, Any]], with_usage: bool, cuts: list[int], end: str, comments: bool
) -> None:
    chunks = [*chunks, last] if with_usage else chunks
    raw = body(chunks, end, comments)
    reassembled = response_of(capture(raw, cuts))
    by_openai = read_by_openai(raw, cuts)
    assert reassembled.done
    assert reassembled.content == by_openai["content"]
    assert reassembled.reasoning == by_openai["reasoning"]
    assert reassembled.finish_reason == by_openai["finish"]
    assert (reassembled.usage.completion if reassembled.usage else None) == by_openai["usage"]
    assert {
        c.index: {"id": c.id, "name": c.name, "args": c.arguments} for c in reassembled.tool_calls
    } == by_openai["calls"]


def test_an_error_in_the_stream_is_what_the_client_raises() -> None:
    raw = body([{"error": {"message": "boom", "code": 500}}])
    with pytest.raises(openai.APIError, match="boom"):
        read_by_openai(raw, [])
    assert response_of(capture(raw, [])).error == {"error": {"message": "boom", "code": 500}}


def test_a_refusal_keeps_its_body() -> None:
    response = response_of(capture(b'{"error": {"message": "no min_p"}}', [7], status=400))
    assert (response.status, response.error) == (400, {"error": {"message": "no min_p"}})
    plain = response_of(capture(b"Bad gateway", [], status=502))
    assert plain.error == {"error": {"message": "Bad gateway"}}


def test_a_capture_that_stops_inside_an_event_says_so() -> None:
    raw = body([last])[:-5]
    response = response_of(capture(raw, []))
    assert not response.done
    assert response.malformed == ("the stream ends inside event 1",)


def test_an_event_that_is_no_json_is_reported() -> None:
    response = response_of(capture(b"data: {oops\n\ndata: [1]\n\ndata: [DONE]\n\n", []))
    assert response.done
    assert [text.split(":")[0] for text in response.malformed] == [
        "event 0 is not a JSON object",
        "event 1 is not a JSON object",
    ]


def one(choice: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, **choice}], **more}


def test_tokens_come_with_their_scores() -> None:
    entry = {
        "token": "token_id:64",
        "logprob": -0.25,
        "bytes": [195, 169],
        "top_logprobs": [
            {"token": "token_id:64", "logprob": -0.25, "bytes": [1]},
            {"token": "token_id:7", "logprob": -1.5, "bytes": [1]},
        ],
    }
    scored = one({"token_ids": [64, 65], "logprobs": {"content": [entry]}})
    response = response_of_chunks([scored], done=True)
    first, second = response.tokens or ()
    assert (first.id, first.text, first.logprob) == (64, "é", -0.25)
    assert [(top.id, top.text, top.logprob) for top in first.top] == [
        (64, None, -0.25),
        (7, None, -1.5),
    ]
    assert (second.id, second.text, second.logprob, second.top) == (65, None, None, ())
    assert response.token_ids == (64, 65)
    assert (response.chunks[0].token_ids, response.chunks[0].logprobs) == (2, 1)


def test_token_texts_may_be_plain_and_ids_absent() -> None:
    entry = {"token": "é", "logprob": None, "bytes": [195, 169]}
    response = response_of_chunks([one({"logprobs": {"content": [entry]}})], done=True)
    (only,) = response.tokens or ()
    assert (only.id, only.text) == (None, "é")
    assert only.logprob is not None
    assert math.isnan(only.logprob)
    assert response.token_ids is None


def test_no_ids_on_the_wire_is_not_an_empty_output() -> None:
    assert response_of_chunks([one({})], done=True).tokens is None
    assert response_of_chunks([one({"token_ids": []})], done=True).tokens == ()


def test_the_last_chunk_carries_usage_and_speculation() -> None:
    tail = {
        "choices": [],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
        "metrics": {"speculative_decoding": {"per_step_accepted": [2], "per_step_drafted": [3]}},
        "system_fingerprint": "fp",
        "model": "m",
    }
    first = one({}, prompt_token_ids=[1, 2], usage=None)
    response = response_of_chunks([first, tail], done=True)
    assert response.usage is not None
    assert (response.usage.prompt, response.usage.completion, response.usage.cached) == (9, 4, 0)
    assert response.speculation is not None
    assert (response.speculation.accepted, response.speculation.drafted) == ((2,), (3,))
    assert (response.speculation.draft_ids, response.speculation.first) == (None, None)
    assert response.prompt_token_ids == (1, 2)
    assert (response.system_fingerprint, response.model) == ("fp", "m")
    nothing = {"choices": [], "metrics": {"speculative_decoding": {"per_step_accepted": None}}}
    silent = response_of_chunks([nothing], done=True).speculation
    assert silent is not None
    assert silent.accepted is None


def test_draft_ids_are_read_where_a_server_reports_them() -> None:
    said = {
        "per_step_accepted": [2, 0],
        "per_step_drafted": [3, 1],
        "per_step_draft_token_ids": [[7, 8, 9], [4, -1]],
        "per_step_first_token": [1, 4],
    }
    last = {"choices": [], "metrics": {"speculative_decoding": said}}
    shown = response_of_chunks([one({}), last], done=True).speculation
    assert shown is not None
    assert shown.draft_ids == ((7, 8, 9), (4, -1))
    assert shown.first == (1, 4)


def test_the_stop_reason_may_be_a_token_id_of_zero() -> None:
    response = response_of_chunks([one({"finish_reason": "stop", "stop_reason": 0})], done=True)
    assert response.stop_reason == 0


def test_other_choices_are_left_out() -> None:
    chunk = {
        "choices": [
            {"index": 1, "delta": {"content": "no"}},
            {"index": 0, "delta": {"content": "yes"}},
        ]
    }
    assert response_of_chunks([chunk], done=True).content == "yes"
