"""A path is judged by its own tokens where the baseline is no reference: in sampled turns, behind a
near tie. What the model wrote wrongly is the model's; what was lost or added behind it is not."""

import json
import re
from typing import Any

import pytest

from checks.exact.judge import Judgement
from checks.formats.spelling import readable, unspelled
from checks.pair import Message
from tests.support.case_builder import chunk, judge, message, tokens, usage

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
                "required": required,
            },
        },
    }
    for name, required in (("read_file", ["path"]), ("list_todos", []))
]
EOS = "<|im_end|>"
LEAK = "MARKER_LEAK_CONTENT"
HARMONY = (
    "<|channel|>analysis<|message|>Hm.<|end|>"
    "<|start|>assistant<|channel|>final<|message|>Yes.<|return|>"
)


def words(text: str) -> list[str]:
    """Tokens of a text: markup whole, the rest in pieces of three characters."""
    return re.findall(r"<[^<>]*>|[^<]{1,3}|<", text)


def sampled(
    own: str, *, baseline: dict | None = None, finish: str = "stop", **delta: Any
) -> Judgement:
    """A sampled turn whose tokens spell `own`, delivered as `delta`."""
    toks = tokens(*words(own), EOS)
    calls = [
        {"index": i, "id": f"c{i}", "type": "function", "function": {"name": n, "arguments": a}}
        for i, (n, a) in enumerate(delta.pop("calls", []))
    ]
    if calls:
        delta["tool_calls"] = calls
    chunks = [chunk(delta, None, [t["id"] for t in toks]), chunk({}, finish), usage(len(toks))]
    return judge(
        request={"messages": [], "tools": TOOLS, "temperature": 0.7},
        baseline=baseline
        or {
            "message": message("Fine.", "Hm."),
            "finish_reason": "stop",
            "tokens": tokens("Hm.", "</think>", "Fine.", EOS),
        },
        candidate={"chunks": chunks, "done": True, "tokens": toks},
    )


def hermes(arguments: str, name: str = "read_file", close: bool = True) -> str:
    end = "}\n</tool_call>" if close else ""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}{end}'


def qwen(value: str, name: str = "read_file", key: str = "path") -> str:
    head = f"<tool_call>\n<function={name}>\n<parameter={key}>\n"
    return f"{head}{value}\n</parameter>\n</function>\n</tool_call>"


GOOD = '{"path": "a.py"}'


@pytest.mark.parametrize("own", [hermes(GOOD), qwen("a.py")])
@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (GOOD, []),
        ('{"path":"a.py"}', []),  # written out anew
        (GOOD[:-1], ["ARGS_NOT_JSON"]),
        (GOOD[:-5], ["ARGS_NOT_JSON"]),
        (GOOD + "}", ["ARGS_DUPLICATED", "ARGS_NOT_JSON"]),
        (GOOD + GOOD, ["ARGS_DUPLICATED", "ARGS_NOT_JSON"]),
        ("", ["ARGS_NOT_JSON"]),
        ("{}", ["ARGS_SCHEMA"]),  # the key is in the tokens
        ('{"path": "b.py"', ["ARGS_NOT_JSON"]),
    ],
)
def test_what_was_lost_or_added_is_the_paths(own: str, arguments: str, codes: list[str]) -> None:
    judged = sampled(own, finish="tool_calls", calls=[("read_file", arguments)])
    assert judged.codes == codes


@pytest.mark.parametrize(
    ("own", "arguments", "code"),
    [
        (hermes('{"path": "a.py"', close=False), '{"path": "a.py"', "ARGS_NOT_JSON"),
        (hermes('{"path": a.py}'), '{"path": a.py}', "ARGS_NOT_JSON"),
        (hermes("{}"), "{}", "ARGS_SCHEMA"),
        (hermes('{"path": 3}'), '{"path": 3}', "ARGS_SCHEMA"),
        (qwen("3", key="limit"), '{"limit": 3}', "ARGS_SCHEMA"),
        (qwen("a.py")[:40], '{"path": "a', "ARGS_NOT_JSON"),  # it stopped inside the call
    ],
)
def test_what_the_model_wrote_is_the_models(own: str, arguments: str, code: str) -> None:
    judged = sampled(own, finish="tool_calls", calls=[("read_file", arguments)])
    assert [(f.code, f.severity) for f in judged.findings] == [(code, "info")]


def test_a_value_that_was_not_converted_is_the_paths() -> None:
    own = qwen("a.py").replace("</function>", "<parameter=limit>\n9\n</parameter>\n</function>")
    for limit, codes in (("9", []), ('"9"', ["ARGS_SCHEMA"])):
        arguments = f'{{"path": "a.py", "limit": {limit}}}'
        judged = sampled(own, finish="tool_calls", calls=[("read_file", arguments)])
        assert judged.codes == codes
    wrong = own.replace("\n9\n", "\nnine\n")
    arguments = '{"path": "a.py", "limit": "nine"}'
    judged = sampled(wrong, finish="tool_calls", calls=[("read_file", arguments)])
    assert [(f.code, f.severity) for f in judged.findings] == [("ARGS_SCHEMA", "info")]


@pytest.mark.parametrize("own", [hermes(GOOD), qwen("a.py")])
def test_calls_are_as_many_as_the_tokens_spell(own: str) -> None:
    call = ("read_file", GOOD)
    assert sampled(own, finish="tool_calls", calls=[call]).codes == []
    assert sampled(own + own, finish="tool_calls", calls=[call, call]).codes == []
    assert sampled(own, finish="tool_calls", calls=[call, call]).codes == ["TOOL_CALL_EXTRA"]
    assert sampled(own, content="").codes == ["TOOL_CALL_LOST"]
    thought = f"<think>\nI could call {own} now.\n</think>\n\nNo."
    reasoning = f"\nI could call {own} now.\n"
    assert sampled(thought, reasoning=reasoning, content="\n\nNo.").codes == []


def test_the_name_of_a_tool() -> None:
    wrong = hermes(GOOD, "read_files")
    judged = sampled(wrong, finish="tool_calls", calls=[("read_files", GOOD)])
    assert [(f.code, f.severity) for f in judged.findings] == [("TOOL_UNKNOWN", "info")]
    assert sampled(hermes(GOOD), finish="tool_calls", calls=[("read_fi", GOOD)]).codes == [
        "TOOL_UNKNOWN"
    ]


@pytest.mark.parametrize(
    ("own", "delta", "codes"),
    [
        ("Look at it.", {"content": "Look at it."}, []),
        ("Look at it.", {"content": "Look it."}, ["CONTENT_DIFF"]),
        ("Look at it.", {"content": ""}, ["CONTENT_DIFF"]),
        ("Look at it.", {"content": "Look at at it."}, ["CONTENT_DIFF"]),
        ("<think>\nHm.\n</think>\n\nYes.", {"reasoning": "\nHm.\n", "content": "\n\nYes."}, []),
        ("Hm.\n</think>\n\nYes.", {"reasoning": "Hm.", "content": "Yes."}, []),
        ("<think>Hm a.</think>Yes.", {"reasoning": "Hm.", "content": "Yes."}, ["REASONING_DIFF"]),
        ("<think>Hm.</think>Yes.", {"content": "Hm.Yes."}, ["REASONING_DIFF"]),  # tags vanished
        ("<think>Hm.</think>Yes.", {"reasoning": "Hm.", "content": "</think>Yes."}, [LEAK]),
        ("Tags: a, b.", {"content": "Tags: a, b.</tool_call>"}, ["CONTENT_DIFF", LEAK]),
    ],
)  # fmt: skip
def test_text_is_what_the_tokens_spell(own: str, delta: dict[str, str], codes: list[str]) -> None:
    assert sampled(own, **delta).codes == codes


@pytest.mark.parametrize("own", [hermes(GOOD), qwen("a.py")])
def test_markup_that_is_shown(own: str) -> None:
    """A whole call as text is the parser's, and so is the end of a call in its arguments; markup
    that makes no call was meant as text, or is the model's fault."""
    said = f"I look.\n{own}"
    assert sampled(said, content=said).codes == ["MARKER_LEAK_CONTENT"]
    half = said[: said.find("read_file")]
    judged = sampled(half, content=half)
    assert {(f.code, f.severity) for f in judged.findings} == {("MARKER_LEAK_CONTENT", "info")}
    arguments = json.dumps({"path": "a.py\n</tool_call>"})
    judged = sampled(own, finish="tool_calls", calls=[("read_file", arguments)])
    assert "MARKER_LEAK_ARGS" in judged.codes


def test_calls_that_are_not_asked_for_may_be_shown() -> None:
    said = hermes(GOOD)
    toks = tokens(*words(said), EOS)
    judged = judge(
        request={"messages": [], "tools": TOOLS, "tool_choice": "none", "temperature": 0.7},
        baseline={"message": message("Fine."), "finish_reason": "stop", "tokens": tokens("Fine")},
        candidate={
            "chunks": [chunk({"content": said}, "stop", [t["id"] for t in toks])],
            "done": True,
            "tokens": toks,
        },
    )
    assert judged.codes == []


@pytest.mark.parametrize(
    ("own", "content", "reasoning"),
    [
        ("Here is my thought process: a b. Here is my response: c.", "c.", "a b."),
        (HARMONY, "Yes.", "Hm."),
        ("a <b> c", "a <b> c", ""),
        ("[read_file(path='a.py')]", "", ""),
    ],
)  # fmt: skip
def test_families_without_tags_of_their_own(own: str, content: str, reasoning: str) -> None:
    from traces.wire.response import ToolCall

    calls = (ToolCall(0, "c", "read_file", GOOD),) if own.startswith("[") else ()
    assert unspelled(own, Message(content, reasoning, calls)) is None


PARTS = ["Done", " \ufffd", "\ufffd", " now", "."]
"""Token texts of ``Done ✅ now.``, whose sign is spread over two tokens."""


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        ("Done ✅ now.", []),
        ("Done ✅ no.", ["CONTENT_DIFF"]),
        ("Done ✅.", ["CONTENT_DIFF"]),
        ("✅ now.", ["CONTENT_DIFF"]),
    ],
)
def test_a_character_spread_over_tokens_hides_no_lost_word(content: str, codes: list[str]) -> None:
    assert sampled_pieces(PARTS, content).codes == codes


def sampled_pieces(pieces: list[str], content: str) -> Judgement:
    toks = tokens(*pieces, EOS)
    delivered = [chunk({"content": content}, None, [t["id"] for t in toks]), chunk({}, "stop")]
    return judge(
        request={"messages": [], "temperature": 0.7},
        baseline={
            "message": message("Fine."),
            "finish_reason": "stop",
            "tokens": tokens("Fine", ".", EOS),
        },
        candidate={"chunks": [*delivered, usage(len(toks))], "done": True, "tokens": toks},
    )


def test_markup_that_may_be_spread_over_tokens_is_not_read() -> None:
    pieces = ["Look", "<", "\ufffd", "\ufffd", "tool", "\ufffd", "calls", "\ufffd", "begin", ">"]
    assert not readable("".join(pieces))
    assert sampled_pieces(pieces, "Look").codes == []
