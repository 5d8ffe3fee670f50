"""Families that spell a call in a syntax of their own: Python calls, and Gemma's.

[run(cmd="ls", times=2)]
<|tool_call>call:run{cmd:<|"|>ls<|"|>,times:2}<tool_call|>
"""

from traces.boundaries.families.shape import build, control, to
from traces.boundaries.mode import Family, Mode


def bare_python(name: str, ends: tuple[str, ...] = ()) -> Family:
    """The whole output is a list of calls, or it is text."""
    modes = {
        "start": Mode("gap", {}, {"[": "call", "": "text"}),
        "call": Mode("python", {}, {"": "text"}),
    }
    return build(name, {}, modes, start="start", ends=ends)


def wrapped_python(name: str, opening: str, closing: str, ends: tuple[str, ...] = ()) -> Family:
    """Calls between two markers."""
    modes = {"call": Mode("python", {closing: to("text")})}
    return build(name, {opening: to("call")}, modes, ends=ends)


def gemma(name: str, opening: str, closing: str, ends: tuple[str, ...] = ()) -> Family:
    """``call:NAME{key:value,…}`` between two markers."""
    modes = {
        "lead": Mode("markup", {"call:": to("name"), closing: to("text")}),
        "name": Mode("name", {closing: to("text")}, {"{": "arguments"}),
        "arguments": Mode("gemma", {closing: to("text")}),
    }
    channels = {"<|channel>thought\n": control("reasoning"), "<channel|>": control("text")}
    return build(
        name,
        {opening: to("lead"), **channels},
        {**modes, "reasoning": Mode("reasoning", {"<channel|>": control("text")})},
        think=None,
        ends=ends,
    )


PYTHONIC = bare_python("pythonic", ("<|eot|>",))
LLAMA4_PYTHONIC = build(
    "llama4_pythonic",
    {"<|python_start|>": to("call")},
    {
        "start": Mode("gap", {"<|python_start|>": to("call")}, {"[": "call", "": "text"}),
        "call": Mode("python", {"<|python_end|>": to("text")}, {"": "text"}),
    },
    start="start",
    ends=("<|eot|>", "<|eom|>"),
)
LFM2 = wrapped_python("lfm2", "<|tool_call_start|>", "<|tool_call_end|>")
OLMO3 = wrapped_python("olmo3", "<function_calls>", "</function_calls>")
GEMMA4 = gemma("gemma4", "<|tool_call>", "<tool_call|>", ("<|turn>", "<turn|>", "<|tool_response>"))
FUNCTIONGEMMA = gemma(
    "functiongemma",
    "<start_function_call>",
    "<end_function_call>",
    ("<start_of_turn>", "<end_of_turn>", "<start_function_response>"),
)
