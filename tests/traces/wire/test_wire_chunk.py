"""Chunks of servers and gateways that are not as the protocol has them."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traces.errors import InputError
from traces.wire.capture import Capture, CaptureKey
from traces.wire.chunk import read_message
from traces.wire.reassembly import response_of, response_of_chunks

FULL: dict[str, Any] = {
    "id": "x",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "system_fingerprint": "fp",
    "prompt_token_ids": [1, 2],
    "choices": [
        {
            "index": 0,
            "delta": {
                "role": "assistant",
                "content": "a",
                "reasoning": "r",
                "reasoning_content": "r",
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "ls", "arguments": "{}"},
                    }
                ],
            },
            "finish_reason": "stop",
            "stop_reason": "\n",
            "token_ids": [64],
            "logprobs": {
                "content": [
                    {
                        "token": "token_id:64",
                        "logprob": -0.1,
                        "bytes": [97],
                        "top_logprobs": [{"token": "token_id:64", "logprob": -0.1, "bytes": [97]}],
                    }
                ]
            },
        }
    ],
    "usage": {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 0},
    },
    "metrics": {"speculative_decoding": {"per_step_accepted": [2], "per_step_drafted": [3]}},
}


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in inside:
        yield (*before, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*before, key))


PLACES = list(places(FULL))


def with_value(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The full chunk with another value at one place."""
    chunk = copy.deepcopy(FULL)
    at: Any = chunk
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return chunk


def stream(*chunks: Any) -> Capture:
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Capture(CaptureKey("r", "candidate", "main", "s", "1"), {}, 200, 0.0, ((1.0, body),), "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["index", "text", "type", "content", "token", "logprob", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=600)
@given(st.sampled_from(PLACES), json_values)
def test_any_json_at_any_place_of_a_chunk_is_read_or_named(
    place: tuple[Any, ...], value: Any
) -> None:
    chunk = with_value(place, value)
    decoded = response_of(stream(FULL, chunk))
    given_as_objects = response_of_chunks([FULL, chunk], done=True, times_ms=[1.0, 1.0])
    assert decoded == given_as_objects
    for response in (decoded, given_as_objects):
        assert len(response.chunks) == 2
        for reason in response.malformed:
            assert reason.startswith("event 1 is no chat completion chunk: ")
        if not response.malformed and value is not None:
            assert response.content.startswith("a")
        assert response.broken_event in (None, *response.malformed)


# (where in the chunk, what is there, where the message says it is)
ODD = [
    ("choices", 5, "$.choices"),
    ("choices", "abc", "$.choices"),
    ("choices.0", 5, "$.choices[0]"),
    ("choices.0.index", "0", "$.choices[0].index"),
    ("choices.0.delta", "abc", "$.choices[0].delta"),
    ("choices.0.delta.content", 5, "$.choices[0].delta.content"),
    ("choices.0.delta.content", [{"type": 1}], "$.choices[0].delta.content[0].type"),
    ("choices.0.delta.content", [5], "$.choices[0].delta.content[0]"),
    ("choices.0.delta.tool_calls", 3, "$.choices[0].delta.tool_calls"),
    ("choices.0.delta.tool_calls", {"index": 0}, "$.choices[0].delta.tool_calls"),
    ("choices.0.delta.tool_calls.0.id", 5, "$.choices[0].delta.tool_calls[0].id"),
    ("choices.0.delta.tool_calls.0.function", "x", "$.choices[0].delta.tool_calls[0].function"),
    (
        "choices.0.delta.tool_calls.0.function.arguments",
        [1],
        "$.choices[0].delta.tool_calls[0].function.arguments",
    ),
    ("choices.0.finish_reason", ["stop"], "$.choices[0].finish_reason"),
    ("choices.0.stop_reason", {"a": 1}, "$.choices[0].stop_reason"),
    ("choices.0.token_ids", 5, "$.choices[0].token_ids"),
    ("choices.0.token_ids.0", 1.5, "$.choices[0].token_ids[0]"),
    ("choices.0.token_ids.0", True, "$.choices[0].token_ids[0]"),
    ("choices.0.token_ids.0", 2**31, "$.choices[0].token_ids[0]"),
    ("choices.0.logprobs", [1], "$.choices[0].logprobs"),
    ("choices.0.logprobs.content", 5, "$.choices[0].logprobs.content"),
    ("choices.0.logprobs.content.0", "x", "$.choices[0].logprobs.content[0]"),
    ("choices.0.logprobs.content.0.logprob", "x", "$.choices[0].logprobs.content[0].logprob"),
    ("choices.0.logprobs.content.0.bytes.0", 300, "$.choices[0].logprobs.content[0].bytes[0]"),
    (
        "choices.0.logprobs.content.0.top_logprobs.0",
        5,
        "$.choices[0].logprobs.content[0].top_logprobs[0]",
    ),
    ("usage.prompt_tokens", "a", "$.usage.prompt_tokens"),
    ("usage.completion_tokens", -2, "$.usage.completion_tokens"),
    ("usage.prompt_tokens_details", [1], "$.usage.prompt_tokens_details"),
    ("metrics", 5, "$.metrics"),
    (
        "metrics.speculative_decoding.per_step_accepted",
        5,
        "$.metrics.speculative_decoding.per_step_accepted",
    ),
    (
        "metrics.speculative_decoding.per_step_drafted.0",
        "b",
        "$.metrics.speculative_decoding.per_step_drafted[0]",
    ),
    ("prompt_token_ids", ["a"], "$.prompt_token_ids[0]"),
    ("model", ["a"], "$.model"),
]


def keys(place: str) -> tuple[Any, ...]:
    return tuple(int(key) if key.isdecimal() else key for key in place.split("."))


@pytest.mark.parametrize(("place", "value", "where"), ODD)
def test_a_field_of_another_type_is_named_with_its_event(
    place: str, value: Any, where: str
) -> None:
    response = response_of(stream(FULL, with_value(keys(place), value), FULL))
    (reason,) = response.malformed
    assert reason.startswith("event 1 is no chat completion chunk: Expected ")
    assert reason.endswith(f" - at {where}")
    assert response.broken_event == reason
    # The other two events are read as ever.
    assert response.content == "aa"
    assert [chunk.token_ids for chunk in response.chunks] == [1, None, 1]


def test_the_number_is_that_of_the_event_and_not_of_the_chunk() -> None:
    body = 'data: {oops\n\ndata: {"choices": 5}\n\ndata: [DONE]\n\n'
    key = CaptureKey("r", "candidate", "main", "s", "1")
    response = response_of(Capture(key, {}, 200, 0.0, ((1.0, body),), "done"))
    assert [text.split(":")[0] for text in response.malformed] == [
        "event 0 is not a JSON object",
        "event 1 is no chat completion chunk",
    ]


def test_an_error_object_is_an_error_whatever_else_it_holds() -> None:
    response = response_of(stream({"error": {"message": "boom"}, "choices": 5}))
    assert response.error == {"error": {"message": "boom"}, "choices": 5}


def test_text_in_parts_is_joined_and_reported() -> None:
    parts = [{"type": "text", "text": "one "}, "two ", {"text": "three"}]
    response = response_of(stream(with_value(keys("choices.0.delta.content"), parts)))
    assert response.content == "one two three"
    assert (response.malformed, response.broken_event) == ((), None)
    assert response.irregular == ("text came as a list of parts",)


@pytest.mark.parametrize("part", [{"type": "image_url", "text": "x"}, {"type": "text"}])
def test_a_part_that_is_no_text_is_named(part: Any) -> None:
    response = response_of(stream(with_value(keys("choices.0.delta.content"), [part])))
    assert "delta.content[0]" in (response.broken_event or "")


def test_arguments_as_an_object_are_its_json_and_reported() -> None:
    arguments = {"path": "é", "deep": [1, None, {"a": True}]}
    place = keys("choices.0.delta.tool_calls.0.function.arguments")
    response = response_of(stream(with_value(place, arguments)))
    (call,) = response.tool_calls
    assert json.loads(call.arguments) == arguments
    assert response.malformed == ()
    assert response.irregular == ("call arguments came as an object",)


def test_a_chunk_as_the_protocol_has_it_is_nothing_to_tell() -> None:
    response = response_of(stream(FULL))
    assert (response.malformed, response.irregular, response.broken_event) == ((), (), None)
    assert response.usage is not None
    assert (response.usage.prompt, response.usage.completion, response.usage.cached) == (9, 1, 0)


def test_a_token_name_with_endless_digits_is_a_text() -> None:
    entry = {"token": "token_id:" + "9" * 5000, "logprob": -1}
    chunk = with_value(keys("choices.0.logprobs.content.0"), entry)
    del chunk["choices"][0]["token_ids"]
    (token,) = response_of(stream(chunk)).tokens or ()
    assert (token.id, token.text, token.logprob) == (None, entry["token"], -1.0)


def test_a_message_of_a_case_file_is_checked_alike() -> None:
    with pytest.raises(InputError, match=r"no assistant message: .* at \$\.tool_calls\[0\]"):
        read_message({"tool_calls": [5]})
