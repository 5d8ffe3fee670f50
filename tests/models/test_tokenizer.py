"""Tokenizer and chat template of the committed target."""

import copy
import json
from pathlib import Path

import pytest

transformers = pytest.importorskip("transformers")

FOLDER = Path(__file__).resolve().parents[2] / "models" / "weights" / "target"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Return a file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
]
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read_file", "arguments": {"path": "src/é.py"}},
}
MESSAGES = [
    {"role": "system", "content": "Coding API."},
    {"role": "user", "content": "Read src/é.py"},
    {"role": "assistant", "content": "Reading.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"},
    {"role": "tool", "tool_call_id": "call_2", "content": "y = 2"},
    {"role": "assistant", "content": "Done."},
]


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.AutoTokenizer.from_pretrained(FOLDER)


def rendered(tokenizer, messages, tools=None, **options):
    return tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, **options)


def test_control_tokens_are_special_and_markers_are_not(tokenizer):
    for token in ("<|im_start|>", "<|im_end|>"):
        assert tokenizer.convert_tokens_to_ids(token) in tokenizer.all_special_ids
    for token in ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"):
        assert tokenizer.convert_tokens_to_ids(token) not in tokenizer.all_special_ids
    text = "<think>\na\n</think>\n\n<tool_call>\n{}\n</tool_call>"
    ids = tokenizer(text + "<|im_end|>")["input_ids"]
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


@pytest.mark.parametrize(
    "marker",
    ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"],
)
def test_each_marker_is_one_token(tokenizer, marker):
    assert tokenizer(marker)["input_ids"] == [tokenizer.convert_tokens_to_ids(marker)]


@pytest.mark.parametrize(
    "text", ["naïve 🚀 日本\n\t x", 'a "b" \\n \u2028 c', "  two  ", "１２３ 12"]
)
def test_any_text_survives(tokenizer, text):
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_digits_stand_alone(tokenizer):
    assert len(tokenizer("48213")["input_ids"]) == 5


def test_the_end_of_a_turn_is_the_end_of_a_reply(tokenizer):
    assert tokenizer.eos_token == "<|im_end|>"
    assert json.loads((FOLDER / "config.json").read_text())["eos_token_id"] == (
        tokenizer.eos_token_id
    )


def test_tools_are_listed_in_the_system_turn(tokenizer):
    text = rendered(tokenizer, MESSAGES, TOOLS)
    head = text.split("<|im_end|>")[0]
    assert head.startswith("<|im_start|>system\nCoding API.\n\n# Tools\n<tools>\n")
    assert json.loads(head.split("<tools>\n")[1].split("\n</tools>")[0]) == TOOLS[0]["function"]


def test_tools_need_no_system_message(tokenizer):
    assert "<tools>" in rendered(tokenizer, MESSAGES[1:2], TOOLS)
    assert rendered(tokenizer, MESSAGES[1:2]).startswith("<|im_start|>user\n")


def test_a_call_is_written_in_hermes_form(tokenizer):
    text = rendered(tokenizer, MESSAGES)
    body = text.split("<tool_call>\n")[1].split("\n</tool_call>")[0]
    assert json.loads(body) == {"name": "read_file", "arguments": {"path": "src/é.py"}}


def test_arguments_may_be_a_string_or_an_object(tokenizer):
    as_text = copy.deepcopy(MESSAGES)
    function = as_text[2]["tool_calls"][0]["function"]
    function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    assert rendered(tokenizer, as_text) == rendered(tokenizer, MESSAGES)


@pytest.mark.parametrize("content", [None, "", []])
def test_content_may_be_missing(tokenizer, content):
    messages = copy.deepcopy(MESSAGES)
    messages[2]["content"] = content
    assert "</think>\n\n<tool_call>" in rendered(tokenizer, messages)


def test_content_may_be_a_list_of_parts(tokenizer):
    parts = [{"type": "text", "text": "Read "}, {"type": "text", "text": "src/é.py"}]
    messages = [MESSAGES[0], {"role": "user", "content": parts}]
    assert rendered(tokenizer, messages) == rendered(tokenizer, MESSAGES[:2])


def test_results_of_parallel_calls_share_a_turn(tokenizer):
    text = rendered(tokenizer, MESSAGES)
    assert text.count("<tool_response>") == 2
    assert text.count("<|im_start|>user\n") == 2


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_passed_back(tokenizer, key):
    messages = copy.deepcopy(MESSAGES)
    messages[2][key] = "why not"
    assert "<think>\nwhy not\n</think>\n\nReading." in rendered(tokenizer, messages)


def test_without_reasoning_the_block_is_empty(tokenizer):
    assert "<|im_start|>assistant\n<think>\n\n</think>\n\nReading." in rendered(tokenizer, MESSAGES)


def test_a_prompt_is_the_start_of_the_text_that_follows_it(tokenizer):
    prompt = rendered(tokenizer, MESSAGES[:2], TOOLS, add_generation_prompt=True)
    assert prompt.endswith("<|im_start|>assistant\n")
    assert rendered(tokenizer, MESSAGES, TOOLS).startswith(prompt)
