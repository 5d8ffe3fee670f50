"""What both paths show alike is never the candidate's fault, however broken it is."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checks.exact.judge import judge_pair
from checks.pair import pair_of_responses
from tests.support.case_builder import TOOLS, request
from traces.wire.reassembly import response_of_chunks

long = "a" * 40
text = st.sampled_from(
    ["", "ok", " ok\n", "<tool_call>", "</think>", "\ufffd", "END", "```json", '{"ok": true}', long]
)
score = st.sampled_from([0.0, -0.1, -5.0, None, float("nan")])
entry = st.fixed_dictionaries(
    {"token": st.sampled_from(["token_id:5", "token_id:6", "x"]), "logprob": score},
    optional={
        "top_logprobs": st.just(
            [{"token": "token_id:5", "logprob": -0.01}, {"token": "token_id:6", "logprob": -4.0}]
        )
    },
)
call = st.fixed_dictionaries(
    {"index": st.integers(0, 1)},
    optional={
        "id": st.sampled_from(["a", "b", ""]),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["read_file", "list_todos", "rm", ""]),
                "arguments": st.sampled_from(["", "{}", '{"path": "a"}', '{"path": 1}', "{", "}"]),
            },
        ),
    },
)
chunk = st.builds(
    lambda delta, finish, ids, entries: {
        "choices": [
            {
                "index": 0,
                "delta": delta,
                "finish_reason": finish,
                "token_ids": ids,
                "logprobs": None if entries is None else {"content": entries},
            }
        ]
    },
    st.fixed_dictionaries(
        {},
        optional={
            "content": text,
            "reasoning": text,
            "tool_calls": st.lists(call, max_size=2),
        },
    ),
    st.none() | st.sampled_from(["stop", "tool_calls", "length"]),
    st.none() | st.lists(st.sampled_from([5, 6, 7]), max_size=9),
    st.none() | st.lists(entry, max_size=4),
)
usage = st.builds(
    lambda n: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": n}},
    st.integers(0, 30),
)
failure = st.just({"error": {"message": "Out of range float values are not JSON compliant"}})
chunks = st.builds(
    lambda body, tail: [*body, *tail],
    st.lists(chunk, max_size=6),
    st.lists(usage | failure, max_size=2),
)
asked = st.builds(
    request,
    temperature=st.sampled_from([0, 0.7]),
    max_tokens=st.sampled_from([1, 5, 512]),
    min_tokens=st.sampled_from([0, 8]),
    stop=st.none() | st.just(["END"]),
    logit_bias=st.none() | st.just({"5": -100}),
    bad_words=st.none() | st.just(["ok"]),
    response_format=st.none() | st.just({"type": "json_object"}),
    tools=st.sampled_from([None, TOOLS]),
)


@settings(deadline=None, max_examples=400)
@given(asked, chunks, st.booleans(), st.sampled_from([200, 400, 500]))
def test_nothing_is_an_error(
    sent: dict[str, Any], body: list[dict[str, Any]], done: bool, status: int
) -> None:
    response = response_of_chunks(body, done=done, status=status)
    judgement = judge_pair(pair_of_responses(sent, response, response))
    assert judgement.codes == []
