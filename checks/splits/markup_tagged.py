"""Tool calls in XML-like markup: one tag per call and one per argument.

    <tool_call>
    <function=read_file>
    <parameter=path>
    a.py
    </parameter>
    </function>
    </tool_call>

Strings are written as they are, everything else as JSON.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol


class Written(Protocol):
    """What is written: a name and arguments."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> Mapping[str, Any]: ...


Calls = Sequence[Written]
Write = Callable[[Calls], str]


def plain(value: Any) -> str:
    """A string as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def functions(begin: str, end: str, compact: bool = False) -> Write:
    """``<function=name><parameter=key>value</parameter></function>`` (Qwen3-Coder and kin)."""
    line = "" if compact else "\n"

    def one(call: Written) -> str:
        inner = "".join(
            f"<parameter={k}>{line}{plain(v)}{line}</parameter>{line}"
            for k, v in call.arguments.items()
        )
        return f"{begin}<function={call.name}>{line}{inner}</function>{line}{end}"

    return lambda calls: "\n".join(map(one, calls))


def keyed(begin: str, end: str) -> Write:
    """``name<arg_key>k</arg_key><arg_value>v</arg_value>`` (GLM-4.5 and kin)."""

    def one(call: Written) -> str:
        inner = "".join(
            f"<arg_key>{k}</arg_key>\n<arg_value>{plain(v)}</arg_value>\n"
            for k, v in call.arguments.items()
        )
        return f"{begin}{call.name}\n{inner}{end}"

    return lambda calls: "\n".join(map(one, calls))


def separated(after_name: str, line: str) -> Write:
    """Keyed arguments inside ``<tool_calls>``, the name ended by `after_name` (Hunyuan)."""

    def one(call: Written) -> str:
        inner = "".join(
            f"<arg_key>{k}</arg_key>{line}<arg_value>{plain(v)}</arg_value>{line}"
            for k, v in call.arguments.items()
        )
        return f"<tool_call>{call.name}{after_name}{line}{inner}</tool_call>{line}"

    return lambda calls: f"<tool_calls>{line}{''.join(map(one, calls))}</tool_calls>"


def invokes(begin: str, end: str) -> Write:
    """``<invoke name="…"><parameter name="…">…</parameter></invoke>`` (MiniMax M2, dots)."""

    def one(call: Written) -> str:
        inner = "".join(
            f'<parameter name="{k}">{plain(v)}</parameter>\n' for k, v in call.arguments.items()
        )
        return f'<invoke name="{call.name}">\n{inner}</invoke>\n'

    return lambda calls: f"{begin}{''.join(map(one, calls))}{end}"


def dsml(wrapper: str, space: str = "") -> Write:
    """DeepSeek's ``<｜DSML｜invoke name="…">`` with a `string` attribute per parameter."""
    tag = f"｜DSML｜{space}"

    def one(call: Written) -> str:
        inner = "".join(
            f'<{tag}parameter name="{k}" string="{str(isinstance(v, str)).lower()}">'
            f"{plain(v)}</{tag}parameter>\n"
            for k, v in call.arguments.items()
        )
        return f'<{tag}invoke name="{call.name}">\n{inner}</{tag}invoke>\n'

    return lambda calls: f"<{tag}{wrapper}>\n{''.join(map(one, calls))}</{tag}{wrapper}>"


def steptml(calls: Calls) -> str:
    """Step3."""

    def one(call: Written) -> str:
        inner = "".join(
            f'<steptml:parameter name="{k}">{plain(v)}</steptml:parameter>'
            for k, v in call.arguments.items()
        )
        body = f'<steptml:invoke name="{call.name}">{inner}</steptml:invoke>'
        return f"<｜tool_call_begin｜>function<｜tool_sep｜>{body}<｜tool_call_end｜>"

    return f"<｜tool_calls_begin｜>{''.join(map(one, calls))}<｜tool_calls_end｜>"


def named_functions(calls: Calls) -> str:
    """MiniCPM5: ``<function name="…"><param name="…">…</param></function>``."""

    def one(call: Written) -> str:
        inner = "".join(f'<param name="{k}">{plain(v)}</param>' for k, v in call.arguments.items())
        return f'<function name="{call.name}">{inner}</function>'

    return "\n".join(map(one, calls))


def atem(calls: Calls) -> str:
    """MuseGlimmer: a message to the tool that holds ``<atem:invoke name="…">``."""

    def one(call: Written) -> str:
        inner = "".join(
            f'<atem:parameter name="{k}">{plain(v)}</atem:parameter>\n'
            for k, v in call.arguments.items()
        )
        invoke = f'<atem:invoke name="{call.name}">\n{inner}</atem:invoke>\n'
        return (
            f"<|start|>assistant to={call.name}<|message|><atem:function_calls>\n{invoke}"
            "</atem:function_calls><|eom|>"
        )

    return "".join(map(one, calls))


def ifm(calls: Calls) -> str:
    """K2 Horizon: ``<ifm|tool_call>name`` and keyed arguments."""

    def one(call: Written) -> str:
        inner = "".join(
            f"<ifm|arg_key>{k}</ifm|arg_key><ifm|arg_value>{plain(v)}</ifm|arg_value>"
            for k, v in call.arguments.items()
        )
        return f"<ifm|tool_call>{call.name}{inner}</ifm|tool_call>"

    return f"<ifm|tool_calls>{''.join(map(one, calls))}</ifm|tool_calls>"


def xtml(calls: Calls) -> str:
    """Kimi K3: nested channels written with three special tokens."""

    def tag(text: str) -> str:
        return f"<|open|>{text}<|sep|>"

    def end(text: str) -> str:
        return f"<|close|>{text}<|sep|>"

    def one(index: int, call: Written) -> str:
        inner = "".join(
            tag(f'argument key="{k}" type="{_kind(v)}"') + plain(v) + end("argument")
            for k, v in call.arguments.items()
        )
        return tag(f'call tool="{call.name}" index="{index}"') + inner + end("call")

    inner = "".join(one(index, call) for index, call in enumerate(calls, 1))
    return f"{tag('tools')}{inner}{end('tools')}"


def minimax_m3(calls: Calls) -> str:
    """MiniMax M3: every tag behind a namespace marker; arguments are elements, and may nest."""
    mark = "]<]minimax[>["

    def element(name: str, value: Any) -> str:
        if isinstance(value, Mapping):
            inner = "".join(element(k, v) for k, v in value.items())
        elif isinstance(value, list):
            inner = "".join(element("item", item) for item in value)
        else:
            inner = plain(value)
        return f"{mark}<{name}>{inner}{mark}</{name}>"

    def one(call: Written) -> str:
        inner = "\n".join(element(k, v) for k, v in call.arguments.items())
        return f'{mark}<invoke name="{call.name}">\n{inner}\n{mark}</invoke>\n'

    return f"{mark}<tool_call>\n{''.join(map(one, calls))}{mark}</tool_call>"


def _kind(value: Any) -> str:
    """The JSON Schema type of a value."""
    if value is None:
        return "null"
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return kinds.get(type(value), "object")
