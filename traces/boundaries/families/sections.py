"""Families that mark the parts of a call with tokens of their own and write arguments as bare JSON.

<|tool_calls_section_begin|><|tool_call_begin|>functions.run:0<|tool_call_argument_begin|>{…}
<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>run<｜tool▁sep｜>{…}<｜tool▁call▁end｜>
[TOOL_CALLS]run[ARGS]{…}
<|channel|>commentary to=functions.run <|constrain|>json<|message|>{…}<|call|>
"""

from traces.boundaries.families.shape import build, control, to
from traces.boundaries.mode import Mode

_KIMI_LEAVES = {
    "<|tool_call_end|>": to("section"),
    "<|tool_calls_section_end|>": to("text"),
}
KIMI_K2 = build(
    "kimi_k2",
    {"<|tool_calls_section_begin|>": to("section")},
    {
        "section": Mode("markup", {"<|tool_call_begin|>": to("id"), **_KIMI_LEAVES}),
        "id": Mode(
            "name",
            {
                "functions.": to("name"),
                ":": to("index"),
                "<|tool_call_argument_begin|>": to("arguments"),
                **_KIMI_LEAVES,
            },
        ),
        "name": Mode(
            "name",
            {":": to("index"), "<|tool_call_argument_begin|>": to("arguments"), **_KIMI_LEAVES},
        ),
        "index": Mode("markup", {"<|tool_call_argument_begin|>": to("arguments"), **_KIMI_LEAVES}),
        "arguments": Mode("arguments", _KIMI_LEAVES),
    },
    calls_end_thinking=True,
    ends=("[EOT]", "<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>"),
)

_DEEPSEEK_CALLS = {"<｜tool▁calls▁begin｜>": to("section")}
_DEEPSEEK_LEAVES = {
    "<｜tool▁call▁end｜>": to("section"),
    "<｜tool▁calls▁end｜>": to("text"),
}
DEEPSEEK_V3 = build(
    "deepseek_v3",
    _DEEPSEEK_CALLS,
    {
        "section": Mode("markup", {"<｜tool▁call▁begin｜>": to("kind"), **_DEEPSEEK_LEAVES}),
        "kind": Mode("markup", {"<｜tool▁sep｜>": to("name"), **_DEEPSEEK_LEAVES}),
        "name": Mode(
            "name", {"\n```json\n": to("arguments"), "\n": to("fence"), **_DEEPSEEK_LEAVES}
        ),
        "fence": Mode("markup", {"```json\n": to("arguments"), **_DEEPSEEK_LEAVES}),
        "arguments": Mode("arguments", {"\n```": to("section"), **_DEEPSEEK_LEAVES}),
    },
)
DEEPSEEK_V31 = build(
    "deepseek_v31",
    _DEEPSEEK_CALLS,
    {
        "section": Mode("markup", {"<｜tool▁call▁begin｜>": to("name"), **_DEEPSEEK_LEAVES}),
        "name": Mode("name", {"<｜tool▁sep｜>": to("arguments"), **_DEEPSEEK_LEAVES}),
        "arguments": Mode("arguments", _DEEPSEEK_LEAVES),
    },
)

_MISTRAL_CALLS = {"[TOOL_CALLS]": to("lead")}
MISTRAL = build(
    "mistral",
    _MISTRAL_CALLS,
    {
        "lead": Mode("space", {}, {"[": "envelope", "{": "envelope", "": "name"}),
        "envelope": Mode("envelope", _MISTRAL_CALLS, {"": "after"}),
        "name": Mode(
            "name",
            {"[ARGS]": to("arguments"), "[CALL_ID]": to("id"), **_MISTRAL_CALLS},
            {"{": "arguments"},
        ),
        "id": Mode("markup", {"[ARGS]": to("arguments")}),
        "arguments": Mode("arguments", _MISTRAL_CALLS, {"": "after"}),
        "after": Mode("space", _MISTRAL_CALLS, {"": "text"}),
    },
    think=("[THINK]", "[/THINK]"),
    ends=("</s>", "[/INST]", "[INST]"),
)

_PLAMO = "<|plamo:{}:plamo|>"
PLAMO3 = build(
    "plamo3",
    {_PLAMO.format("begin_tool_requests"): to("section")},
    {
        "section": Mode(
            "markup",
            {
                _PLAMO.format("begin_tool_name"): to("name"),
                _PLAMO.format("begin_tool_arguments"): to("lead"),
                _PLAMO.format("end_tool_requests"): to("text"),
            },
        ),
        "name": Mode("name", {_PLAMO.format("end_tool_name"): to("section")}),
        "lead": Mode("markup", {"<|plamo:msg|>": to("arguments")}),
        "arguments": Mode("arguments", {_PLAMO.format("end_tool_arguments"): to("section")}),
    },
    think=(_PLAMO.format("begin_think"), _PLAMO.format("end_think")),
    ends=("<|plamo:tag|>", "<|plamo:bos|>", "<|plamo:eos|>"),
)

_HARMONY_ENDS = {
    "<|end|>": control("header"),
    "<|start|>": control("header"),
    "<|call|>": control("header"),
    "<|return|>": control("header"),
    "<|channel|>": control("header"),
}
_HARMONY_CALL = {"to=functions.": to("name"), "to=": to("name")}
HARMONY = build(
    "openai",
    _HARMONY_ENDS,
    {
        "start": Mode("gap", _HARMONY_ENDS, {"": "text"}),
        "header": Mode(
            "special",
            {
                **_HARMONY_ENDS,
                **_HARMONY_CALL,
                "analysis": control("analysis"),
                "<|message|>": control("text"),
            },
        ),
        "analysis": Mode(
            "special",
            {**_HARMONY_ENDS, **_HARMONY_CALL, "<|message|>": control("reasoning")},
        ),
        "reasoning": Mode("reasoning", _HARMONY_ENDS),
        "name": Mode(
            "name",
            {
                " ": to("head"),
                "<|channel|>": to("head"),
                "<|constrain|>": to("head"),
                "<|message|>": to("arguments"),
            },
        ),
        "head": Mode("markup", {"<|message|>": to("arguments")}),
        "arguments": Mode("arguments", _HARMONY_ENDS),
    },
    think=None,
    start="start",
)
