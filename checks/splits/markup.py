"""Write tool calls as the models of each vLLM tool parser write them.

One function per format, ``write(calls) -> text``; `FORMATS` maps parser names to them. Formats are
those of vLLM 0.32's `tool_parsers` and `parser` modules; whether a text is right is shown by the
parser's own non-streaming parse, which must give the calls back.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from checks.splits import markup_tagged as tagged


class CallToWrite(NamedTuple):
    """A call: the tool's name and its arguments as a JSON object."""

    name: str
    arguments: Mapping[str, Any]


Write = Callable[[Sequence[CallToWrite]], str]


def dumps(value: Any) -> str:
    """JSON as models write it: unicode as it is."""
    return json.dumps(value, ensure_ascii=False)


def _objects(calls: Sequence[CallToWrite], key: str = "arguments") -> list[dict[str, Any]]:
    return [{"name": call.name, key: dict(call.arguments)} for call in calls]


def each(begin: str, end: str, key: str = "arguments", between: str = "\n") -> Write:
    """Every call as one JSON object between two markers."""
    return lambda calls: between.join(f"{begin}{dumps(o)}{end}" for o in _objects(calls, key))


def array(begin: str, end: str, key: str = "arguments") -> Write:
    """All calls as one JSON array between two markers."""
    return lambda calls: f"{begin}{dumps(_objects(calls, key))}{end}"


def pythonic(begin: str = "[", end: str = "]", between: str = ", ") -> Write:
    """``[name(key="value", n=1)]``."""

    def write(calls: Sequence[CallToWrite]) -> str:
        parts = [
            f"{c.name}({', '.join(f'{k}={v!r}' for k, v in c.arguments.items())})" for c in calls
        ]
        return f"{begin}{between.join(parts)}{end}"

    return write


def _kimi_k2(calls: Sequence[CallToWrite]) -> str:
    inner = "".join(
        f"<|tool_call_begin|>functions.{c.name}:{i}<|tool_call_argument_begin|>"
        f"{dumps(dict(c.arguments))}<|tool_call_end|>"
        for i, c in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


def _deepseek(inside: Callable[[CallToWrite], str]) -> Write:
    def write(calls: Sequence[CallToWrite]) -> str:
        inner = "\n".join(
            f"<｜tool▁call▁begin｜>{inside(call)}<｜tool▁call▁end｜>" for call in calls
        )
        return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"

    return write


def _deepseek_v3(call: CallToWrite) -> str:
    return f"function<｜tool▁sep｜>{call.name}\n```json\n{dumps(dict(call.arguments))}\n```"


def _deepseek_v31(call: CallToWrite) -> str:
    return f"{call.name}<｜tool▁sep｜>{dumps(dict(call.arguments))}"


def _mistral(calls: Sequence[CallToWrite]) -> str:
    return "".join(f"[TOOL_CALLS]{c.name}{dumps(dict(c.arguments))}" for c in calls)


def _apertus(calls: Sequence[CallToWrite]) -> str:
    return f"<|tools_prefix|>{dumps([{c.name: dict(c.arguments)} for c in calls])}<|tools_suffix|>"


def _gemma(calls: Sequence[CallToWrite]) -> str:
    """Keys are bare, strings stand between ``<|"|>``."""

    def value(item: Any) -> str:
        if isinstance(item, str):
            return f'<|"|>{item}<|"|>'
        if isinstance(item, Mapping):
            return "{" + ",".join(f"{k}:{value(v)}" for k, v in item.items()) + "}"
        if isinstance(item, list):
            return "[" + ",".join(map(value, item)) + "]"
        return dumps(item)

    return "".join(f"<|tool_call>call:{c.name}{value(c.arguments)}<tool_call|>" for c in calls)


def _functiongemma(calls: Sequence[CallToWrite]) -> str:
    def one(call: CallToWrite) -> str:
        inner = ",".join(f"{k}:<escape>{v}<escape>" for k, v in call.arguments.items())
        return f"<start_function_call>call:{call.name}{{{inner}}}<end_function_call>"

    return "".join(map(one, calls))


def _inkling(calls: Sequence[CallToWrite]) -> str:
    return "".join(
        f"<|message_model|><|content_invoke_tool_json|>"
        f"{dumps({'name': c.name, 'args': dict(c.arguments)})}<|end_message|>"
        for c in calls
    )


def _plamo(calls: Sequence[CallToWrite]) -> str:
    inner = "".join(
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>"
        f"{c.name}<|plamo:end_tool_name:plamo|>"
        "<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>"
        f"{dumps(dict(c.arguments))}<|plamo:end_tool_arguments:plamo|>"
        "<|plamo:end_tool_request:plamo|>"
        for c in calls
    )
    return f"<|plamo:begin_tool_requests:plamo|>{inner}<|plamo:end_tool_requests:plamo|>"


_HERMES = each("<tool_call>\n", "\n</tool_call>")
_QWEN = tagged.functions("<tool_call>\n", "</tool_call>")
_GLM = tagged.keyed("<tool_call>", "</tool_call>")


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """How a parser's models write calls, and what the format cannot hold.

    `prose` text may stand before the calls, `parallel` several calls may follow each other,
    `typed` values other than strings keep their type.
    """

    write: Write
    prose: bool = True
    parallel: bool = True
    typed: bool = True


FORMATS: dict[str, ToolFormat] = {
    "apertus": ToolFormat(_apertus),
    "cohere_command3": ToolFormat(array("<|START_ACTION|>", "<|END_ACTION|>", "parameters")),
    "cohere_command4": ToolFormat(array("<|START_ACTION|>", "<|END_ACTION|>", "parameters")),
    "deepseek_v3": ToolFormat(_deepseek(_deepseek_v3)),
    "deepseek_v31": ToolFormat(_deepseek(_deepseek_v31)),
    "deepseek_v32": ToolFormat(tagged.dsml("function_calls")),
    "deepseek_v4": ToolFormat(tagged.dsml("tool_calls")),
    "deepseek_v41": ToolFormat(tagged.dsml("calls", space=" ")),
    "dots": ToolFormat(tagged.invokes("<dots_function_call>\n", "</dots_function_call>")),
    "ernie45": ToolFormat(_HERMES),
    "functiongemma": ToolFormat(_functiongemma, typed=False),
    "gemma4": ToolFormat(_gemma),
    "gigachat3": ToolFormat(each("<|function_call|>", ""), parallel=False),
    "glm45": ToolFormat(_GLM),
    "glm47": ToolFormat(_GLM),
    "granite": ToolFormat(array("<|tool_call|>", "")),
    "granite-20b-fc": ToolFormat(each("<function_call> ", "", between=" ")),
    "granite4": ToolFormat(each("<tool_call>", "</tool_call>")),
    "hermes": ToolFormat(_HERMES),
    "hunyuan_a13b": ToolFormat(array("<tool_calls>", "</tool_calls>")),
    "hy_v3": ToolFormat(tagged.separated("<tool_sep>", "\n")),
    "hy_v4": ToolFormat(tagged.separated("", "")),
    "inkling": ToolFormat(_inkling),
    "internlm": ToolFormat(
        each("<|action_start|><|plugin|>", "<|action_end|>", "parameters"), parallel=False
    ),
    "jamba": ToolFormat(array("<tool_calls>", "</tool_calls>")),
    "k2_horizon": ToolFormat(tagged.ifm),
    "kimi_k2": ToolFormat(_kimi_k2),
    "kimi_k3": ToolFormat(tagged.xtml),
    "lfm2": ToolFormat(pythonic("<|tool_call_start|>[", "]<|tool_call_end|>")),
    "ling3": ToolFormat(_GLM),
    "llama3_json": ToolFormat(each("", "", "parameters", between="; "), prose=False),
    "llama4_json": ToolFormat(each("", "", "parameters", between="; "), prose=False),
    "llama4_pythonic": ToolFormat(pythonic(), prose=False),
    "longcat": ToolFormat(each("<longcat_tool_call>", "</longcat_tool_call>")),
    "mimo": ToolFormat(tagged.functions("<tool_call>", "</tool_call>", compact=True)),
    "minicpm5": ToolFormat(tagged.named_functions),
    "minimax_m2": ToolFormat(tagged.invokes("<minimax:tool_call>\n", "</minimax:tool_call>")),
    "minimax_m3": ToolFormat(tagged.minimax_m3),
    "mistral": ToolFormat(_mistral),
    "muse_glimmer": ToolFormat(tagged.atem),
    "olmo3": ToolFormat(
        pythonic("<function_calls>", "</function_calls>", between="\n"), prose=False
    ),
    "phi4_mini_json": ToolFormat(array("functools", ""), prose=False),
    "plamo3": ToolFormat(_plamo),
    "poolside_v1": ToolFormat(_GLM),
    "pythonic": ToolFormat(pythonic(), prose=False),
    "qwen3_coder": ToolFormat(_QWEN),
    "qwen3_json": ToolFormat(_HERMES),
    "qwen3_xml": ToolFormat(_QWEN),
    "seed_oss": ToolFormat(tagged.functions("<seed:tool_call>\n", "</seed:tool_call>")),
    "step3": ToolFormat(tagged.steptml),
    "step3p5": ToolFormat(_QWEN),
    "xlam": ToolFormat(array("", ""), prose=False),
}

UNWRITTEN = {
    "hf": "the format is a response template of the tokenizer; there is none to write by",
    "openai": "Harmony is parsed from gpt-oss token ids, which only its own tokenizer has",
}
"""Parsers whose format is not written here, and why."""
