"""White space beside calls and reasoning is a warning wherever it shows, and nowhere else."""

import json
from typing import Any

import pytest

from checks.cases.judge import judge_scenario
from traces.cases.case import parse_case

CALL = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "ls", "arguments": "{}"},
}
WHOLE = {k: v for k, v in CALL.items() if k != "index"}


def judged(baseline: dict[str, Any], *deltas: dict[str, Any]) -> list[tuple[str, str]]:
    """(code, severity) of a greedy turn, `deltas` against the message of the baseline."""
    finish = "tool_calls" if any("tool_calls" in d for d in deltas) else "stop"
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    tools = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}]
    scenario = {
        "name": "seam",
        "request": {"messages": [], "temperature": 0, "tools": tools},
        "baseline": {"message": {"role": "assistant", **baseline}, "finish_reason": finish},
        "candidate": {"chunks": chunks, "done": True},
    }
    text = json.dumps({"case": 1, "kind": "seam", "scenarios": [scenario]})
    case = parse_case(text, "seam")
    found = judge_scenario(case.scenarios[0]).findings
    return [(finding.code, finding.severity) for finding in found]


def content(text: str) -> dict[str, Any]:
    return {"content": text}


CALLS = {"tool_calls": [CALL]}


@pytest.mark.parametrize(
    ("baseline", "deltas"),
    [
        ({"content": "I look.\n\nDone.", "tool_calls": [WHOLE]}, ["I look.\n", CALLS, "Done."]),
        ({"content": "I look.Done.", "tool_calls": [WHOLE]}, ["I look.", CALLS, "\n\nDone."]),
        ({"content": "Done.", "tool_calls": [WHOLE]}, [CALLS, "\nDone."]),
        ({"content": "\n\nDone.", "reasoning": "Hm."}, [{"reasoning": "Hm."}, "Done."]),
    ],
)
def test_a_warning_beside_a_call_or_reasoning(baseline: dict[str, Any], deltas: list[Any]) -> None:
    sent = [content(d) if isinstance(d, str) else d for d in deltas]
    assert judged(baseline, *sent) == [("CONTENT_DIFF", "warning")]


def test_a_warning_before_the_reasoning() -> None:
    baseline = {"content": "Done.", "reasoning": "\nHm."}
    sent = {"reasoning": "Hm."}, content("Done.")
    assert judged(baseline, *sent) == [("REASONING_DIFF", "warning")]


@pytest.mark.parametrize(
    ("baseline", "deltas"),
    [
        ({"content": "if x:\n  y\n", "tool_calls": [WHOLE]}, ["if x:\ny\n", CALLS]),
        ({"content": "a b\n c", "tool_calls": [WHOLE]}, ["a b\n", CALLS, "c d"]),
        ({"content": "\n\nDone."}, ["Done."]),
        ({"content": "a  b"}, ["a b"]),
    ],
)
def test_an_error_anywhere_else(baseline: dict[str, Any], deltas: list[Any]) -> None:
    sent = [content(d) if isinstance(d, str) else d for d in deltas]
    assert judged(baseline, *sent) == [("CONTENT_DIFF", "error")]


def test_lost_spaces_inside_reasoning_are_an_error() -> None:
    baseline = {"content": "Done.", "reasoning": "a b"}
    assert judged(baseline, {"reasoning": "ab"}, content("Done.")) == [("REASONING_DIFF", "error")]
