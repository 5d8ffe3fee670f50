"""Families that write a call as JSON with its name inside, between markers or bare.

<tool_call>{"name": "run", "arguments": {"cmd": "ls"}}</tool_call>
[TOOL_CALLS] [{"name": "run", "arguments": {"cmd": "ls"}}]
{"name": "run", "parameters": {"cmd": "ls"}}
"""

from traces.boundaries.families.shape import build, control, to
from traces.boundaries.mode import Family, Mode


def wrapped(name: str, *markers: tuple[str, str], ends: tuple[str, ...] = ()) -> Family:
    """Each call, or list of calls, between an opening and a closing marker."""
    calls = {opening: to("call") for opening, _ in markers}
    closing = {closing: to("text") for _, closing in markers}
    return build(name, calls, {"call": Mode("envelope", {**calls, **closing})}, ends=ends)


def headed(name: str, *openings: str, ends: tuple[str, ...] = ()) -> Family:
    """A marker, then JSON that ends by itself; text may follow."""
    calls = {opening: to("lead") for opening in openings}
    modes = {
        "lead": Mode("space", calls, {"": "call"}),
        "call": Mode("envelope", calls, {"": "text"}),
    }
    return build(name, calls, modes, ends=ends)


HERMES = wrapped("hermes", ("<tool_call>", "</tool_call>"), ends=("</s>",))
LONGCAT = wrapped(
    "longcat", ("<longcat_tool_call>", "</longcat_tool_call>"), ends=("</longcat_s>",)
)
TOOL_CALLS = wrapped("tool_calls", ("<tool_calls>", "</tool_calls>"), ends=("<|eos|>",))
INTERNLM = wrapped("internlm", ("<|action_start|><|plugin|>", "<|action_end|>"))
COHERE = build(
    "cohere",
    {"<|START_ACTION|>": to("call")},
    {"call": Mode("envelope", {"<|END_ACTION|>": to("text")})},
    think=("<|START_THINKING|>", "<|END_THINKING|>"),
    ends=(
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
        "<|END_OF_TURN_TOKEN|>",
        "<|CHATBOT_TOKEN|>",
    ),
)
INKLING = build(
    "inkling",
    {"<|content_invoke_tool_json|>": to("call")},
    {"call": Mode("envelope", {"<|end_message|>": control("text")})},
    think=("<|content_thinking|>", "<|end_message|>"),
    ends=("<|message_model|>", "<|content_text|>", "<|content_model_end_sampling|>"),
)
GRANITE = headed("granite", "<|tool_call|>", "<tool_call>")
GRANITE_20B = headed("granite-20b-fc", "<function_call>")
PHI4 = headed("phi4_mini_json", "functools", ends=("<|end|>", "<|tool|>"))
GIGACHAT = headed(
    "gigachat3", "<|function_call|>", "function call<|role_sep|>", ends=("<|message_sep|>", "</s>")
)
XLAM = wrapped("xlam", ("<tool_call>", "</tool_call>"), ("[TOOL_CALLS]", "\n\n"))
APERTUS = build(
    "apertus",
    {"<|tools_prefix|>": to("call")},
    {"call": Mode("keyed", {"<|tools_suffix|>": to("text")})},
    think=("<|inner_prefix|>", "<|inner_suffix|>"),
    ends=("<|assistant_end|>",),
)
LLAMA = build(
    "llama3_json",
    {"<|python_tag|>": to("lead")},
    {
        "start": Mode("gap", {"<|python_tag|>": to("lead")}, {"{": "call", "": "text"}),
        "lead": Mode("space", {}, {"": "call"}),
        "call": Mode("envelope", {}, {"": "after"}),
        "after": Mode("space", {";": to("lead")}, {"{": "call", "": "text"}),
    },
    start="start",
    ends=("<|eot|>", "<|eom|>"),
)
