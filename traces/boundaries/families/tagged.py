"""Families that put name, keys and values of a call between XML-like tags, values verbatim.

<tool_call><function=run><parameter=cmd>ls</parameter></function></tool_call>     qwen3_coder
<minimax:tool_call><invoke name="run"><parameter name="cmd">ls</parameter>…       minimax_m2
<｜DSML｜invoke name="run"><｜DSML｜parameter name="cmd" string="true">ls…          deepseek_v32
<tool_call>run<arg_key>cmd</arg_key><arg_value>ls</arg_value></tool_call>         glm45
"""

from collections.abc import Mapping

from traces.boundaries.families.shape import THINK, build, control, to
from traces.boundaries.mode import Family, Mode, Tags


def functions(
    name: str,
    opening: str = "<tool_call>",
    closing: str = "</tool_call>",
    think: tuple[str, str] = THINK,
    ends: tuple[str, ...] = (),
) -> Family:
    """``<function=NAME>`` with ``<parameter=KEY>``; the outer tag is often left out by models."""
    calls = {opening: to("call"), "<function=": to("name")}
    closes: Tags = {"</function>": to("between"), closing: to("text")}
    modes = {
        "call": Mode("markup", {**calls, closing: to("text")}),
        "name": Mode("name", {">": to("body")}),
        "body": Mode("markup", {"<parameter=": to("key"), **closes}),
        "key": Mode("key", {">": to("value")}),
        "value": Mode("value", {"</parameter>": to("body"), **closes}, trims=True),
        "between": Mode("space", {**calls, closing: to("text")}, {"": "text"}),
    }
    return build(name, calls, modes, think=think, ends=ends)


def invokes(
    name: str,
    opening: str,
    closing: str,
    *,
    prefix: str = "",
    invoke: str = "invoke",
    parameter: str = "parameter",
    think: tuple[str, str] | None = THINK,
    ends: tuple[str, ...] = (),
    more: Tags | None = None,
    also: Mapping[str, Mode] | None = None,
    start: str = "text",
) -> Family:
    """``<invoke name="NAME">`` with ``<parameter name="KEY">``, each tag with a prefix.

    A ``string="true"`` beside the key says that the value is a string. `more` are markers that
    begin something in the text, `also` modes they lead to.
    """
    begin, finish = f"<{prefix}{invoke} name=", f"</{prefix}{invoke}>"
    key, end_key = f"<{prefix}{parameter} name=", f"</{prefix}{parameter}>"
    calls = {
        opening: to("call"),
        **{begin + quote: to("name") for quote in ('"', "'", "")},
        **(more or {}),
    }
    closes: Tags = {finish: to("between"), closing: to("text")}
    value = {end_key: to("body"), **closes}
    modes = {
        "call": Mode("markup", {**calls, closing: to("text")}),
        "name": Mode("name", {'">': to("body"), "'>": to("body"), ">": to("body")}),
        "body": Mode("markup", {**{key + q: to("key") for q in ('"', "'", "")}, **closes}),
        "key": Mode(
            "key",
            {
                '" string="true">': to("verbatim"),
                '" string="false">': to("value"),
                '">': to("value"),
                "'>": to("value"),
                ">": to("value"),
                '"': to("attributes"),
            },
        ),
        "attributes": Mode("markup", {">": to("value")}),
        "value": Mode("value", value, trims=True),
        "verbatim": Mode("string", value, trims=True),
        "between": Mode("space", {**calls, closing: to("text")}, {"": "text"}),
        **(also or {}),
    }
    return build(name, calls, modes, think=think, ends=ends, start=start)


def pairs(
    name: str,
    tag: str = "",
    *,
    outer: tuple[str, str] | None = None,
    separator: str | None = None,
    ends: tuple[str, ...] = (),
) -> Family:
    """A bare name, then ``<arg_key>`` and ``<arg_value>`` in turn; `tag` begins each tag's name."""
    opening, closing = f"<{tag}tool_call>", f"</{tag}tool_call>"
    key, end_key = f"<{tag}arg_key>", f"</{tag}arg_key>"
    value, end_value = f"<{tag}arg_value>", f"</{tag}arg_value>"
    kind, end_kind = f"<{tag}arg_type>", f"</{tag}arg_type>"
    calls = {opening: to("call")}
    leaves: Tags = {closing: to("between")}
    if outer:
        calls[outer[0]] = to("calls")
        leaves = {**leaves, outer[1]: to("text")}
    named = {"\n": to("body"), key: to("key"), **leaves}
    if separator:
        named[separator] = to("body")
    modes = {
        "calls": Mode("markup", {**calls, **leaves}),
        "call": Mode("space", leaves, {"": "name"}),
        "name": Mode("name", named),
        "body": Mode("markup", {key: to("key"), value: to("value"), kind: to("kind"), **leaves}),
        "key": Mode("key", {end_key: to("body")}),
        "kind": Mode("markup", {end_kind: to("body")}),
        "value": Mode("value", {end_value: to("body"), **leaves}),
        "between": Mode("space", {**calls, **leaves}, {"": "text"}),
    }
    return build(name, calls, modes, ends=ends, calls_end_thinking=True)


QWEN3_CODER = functions("qwen3_coder")
SEED_OSS = functions(
    "seed_oss",
    "<seed:tool_call>",
    "</seed:tool_call>",
    ("<seed:think>", "</seed:think>"),
    ("<seed:bos>", "<seed:eos>"),
)
MINIMAX_M2 = invokes(
    "minimax_m2", "<minimax:tool_call>", "</minimax:tool_call>", ends=("[e~[", "]~b]", "]~!b[")
)
DEEPSEEK_V32 = invokes(
    "deepseek_v32", "<｜DSML｜function_calls>", "</｜DSML｜function_calls>", prefix="｜DSML｜"
)
DEEPSEEK_V4 = invokes(
    "deepseek_v4", "<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", prefix="｜DSML｜"
)
DEEPSEEK_V41 = invokes("deepseek_v41", "<｜DSML｜ calls>", "</｜DSML｜ calls>", prefix="｜DSML｜ ")
DOTS = invokes("dots", "<dots_function_call>", "</dots_function_call>")
MINICPM5 = invokes(
    "minicpm5", "<tool_calls>", "</tool_calls>", invoke="function", parameter="param"
)
STEP3 = invokes(
    "step3",
    "<｜tool_calls_begin｜>",
    "<｜tool_calls_end｜>",
    prefix="steptml:",
    more={"<｜tool_call_begin｜>": to("call"), "<｜tool_call_end｜>": to("call")},
)
_MUSE_HEAD = {"<|start|>": control("start"), "<|eom|>": control("start")}
MUSE_GLIMMER = invokes(
    "muse_glimmer",
    "<atem:function_calls>",
    "</atem:function_calls>",
    prefix="atem:",
    think=None,
    ends=("<|eot|>",),
    more=_MUSE_HEAD,
    also={
        "start": Mode(
            "special", {"to=self<|message|>": control("reasoning"), "<|message|>": control("text")}
        ),
        "reasoning": Mode("reasoning", _MUSE_HEAD),
    },
    start="start",
)
GLM = pairs("glm45")
HY_V3 = pairs(
    "hy_v3", outer=("<tool_calls>", "</tool_calls>"), separator="<tool_sep>", ends=("<|eos|>",)
)
K2_HORIZON = pairs("k2_horizon", "ifm|", outer=("<ifm|tool_calls>", "</ifm|tool_calls>"))

_M3 = "]<]minimax[>["
_M3_CALLS = {f"{_M3}<tool_call>": to("call")}
_M3_LEAVES = {f"{_M3}</tool_call>": to("text"), f"{_M3}</invoke>": to("call")}
_M3_ELEMENTS = {f"{_M3}<": to("key"), f"{_M3}</": to("closing"), **_M3_LEAVES}
MINIMAX_M3 = build(
    "minimax_m3",
    _M3_CALLS,
    {
        "call": Mode("markup", {f'{_M3}<invoke name="': to("name"), **_M3_LEAVES}),
        "name": Mode("name", {'">': to("body")}),
        "body": Mode("markup", _M3_ELEMENTS),
        "key": Mode("key", {">": to("value")}),
        "value": Mode("value", _M3_ELEMENTS, trims=True),
        "closing": Mode("markup", {">": to("body")}),
    },
)

_K3_ENDS = tuple(
    f"<|{verb}|>{channel}<|sep|>"
    for verb in ("open", "close")
    for channel in ("response", "message")
)
KIMI_K3 = build(
    "kimi_k3",
    {"<|open|>tools<|sep|>": to("calls")},
    {
        "calls": Mode(
            "markup", {'<|open|>call tool="': to("name"), "<|close|>tools<|sep|>": to("text")}
        ),
        "name": Mode("name", {'"': to("head")}),
        "head": Mode("markup", {"<|sep|>": to("body")}),
        "body": Mode(
            "markup", {'<|open|>argument key="': to("key"), "<|close|>call<|sep|>": to("calls")}
        ),
        "key": Mode("key", {'" type="string"<|sep|>': to("verbatim"), '"': to("attributes")}),
        "attributes": Mode("markup", {"<|sep|>": to("value")}),
        "value": Mode("value", {"<|close|>argument<|sep|>": to("body")}),
        "verbatim": Mode("string", {"<|close|>argument<|sep|>": to("body")}),
    },
    think=("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ends=(*_K3_ENDS, "<|end_of_msg|>"),
    calls_end_thinking=True,
)
