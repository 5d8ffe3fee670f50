"""Probe requests: the same questions to both paths, whose answers show template and parsers.

The conversation probe goes to ``/tokenize``; equal token ids mean equal templates as far as it
reaches. The parser probes force one exact output each (`structured_outputs.choice`), in the markup
of a family of parsers, and keep what the server makes of it: calls, reasoning, or plain content.
"""

import json
from collections.abc import Mapping
from typing import Any

from replay.sending.request import gate_request

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a place",
        "parameters": {
            "type": "object",
            "properties": {"place": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["place"],
        },
    },
}
ARGUMENTS = {"place": "Zürich", "days": 2}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)},
}

CONVERSATION: Mapping[str, Any] = {
    "messages": [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "Weather in Zürich?\n"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"sky": "clear"}'},
        {"role": "assistant", "content": "Clear."},
        {"role": "user", "content": "  And tomorrow? "},
    ],
    "tools": [WEATHER],
}

_JSON_CALL = '{"name": "get_weather", "arguments": {"place": "Bern"}}'

REASONING = "reasoning"

MARKUPS: Mapping[str, str] = {
    REASONING: "<think>short</think>done",
    "hermes": f"<tool_call>\n{_JSON_CALL}\n</tool_call>",
    "qwen3_coder": "<tool_call>\n<function=get_weather>\n<parameter=place>\nBern\n</parameter>\n"
    "</function>\n</tool_call>",
    "llama3_json": '{"name": "get_weather", "parameters": {"place": "Bern"}}',
    "mistral": f"[TOOL_CALLS] [{_JSON_CALL}]",
    "pythonic": "[get_weather(place='Bern')]",
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    '<|tool_call_argument_begin|>{"place": "Bern"}<|tool_call_end|><|tool_calls_section_end|>',
}
"""One sample per family; the names are vLLM's parser names."""


def parser_probe(model: str, markup: str) -> dict[str, Any]:
    """The request that makes the server say, and parse, the sample of `markup`.

    Thinking is switched off where the template knows how, so that a tool sample comes at once; the
    reasoning sample needs it on, since some reasoning parsers rest without it.
    """
    thinking = {} if markup == REASONING else {"chat_template_kwargs": {"enable_thinking": False}}
    return {
        "model": model,
        "messages": [{"role": "user", "content": "Weather in Bern?"}],
        "tools": [WEATHER],
        "tool_choice": "auto",
        "structured_outputs": {"choice": [MARKUPS[markup]]},
        "temperature": 0.0,
        "max_tokens": 256,
        "cache_salt": "probe",
        **thinking,
    }


REPETITION = "red green blue white black brown pink gray " * 4
REPETITION_TOKENS = 48


def repetition_probe(model: str, salt: str) -> dict[str, Any]:
    """The request that makes the server say what it has said before, so that n-gram drafts too."""
    chat = {
        "messages": [{"role": "user", "content": f"Repeat: {REPETITION}"}],
        "structured_outputs": {"choice": [REPETITION]},
    }
    return gate_request(chat, model=model, cache_salt=salt, max_tokens=REPETITION_TOKENS)


def parsed(answer: Any) -> str | None:
    """What came of it, as canonical JSON; None where the sample was not said to its end.

    A server with a reasoning parser lets the model think before it forces the output. What it
    thinks is the model's own and may differ by rounding; only that it thought is kept.
    """
    try:
        choice = answer["choices"][0]
        if choice["finish_reason"] not in ("stop", "tool_calls"):
            return None
        message = choice["message"]
        calls = [
            [call["function"]["name"], call["function"]["arguments"]]
            for call in message.get("tool_calls") or []
        ]
        reasoning = message.get("reasoning") or message.get("reasoning_content")
        found = {
            "calls": calls,
            "content": message.get("content") or "",
            "reasoning": reasoning is not None,
        }
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    return json.dumps(found, ensure_ascii=False, sort_keys=True)
