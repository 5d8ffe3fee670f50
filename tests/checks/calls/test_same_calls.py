"""Whether two answers make the same calls: by name and JSON value, in order."""

import pytest

from checks.calls.calls import same_calls
from traces.wire.response import ToolCall


def call(name: str, arguments: str, id: str = "a") -> ToolCall:
    return ToolCall(0, id, name, arguments)


READ = call("read", '{"path": "a", "n": 1}')


@pytest.mark.parametrize(
    ("candidate", "same"),
    [
        ([READ], True),
        ([call("read", '{"n":1,"path":"a"}', "other")], True),
        ([call("read", '{"n": 1.0, "path": "a"}')], True),
        ([call("read", '{"n": "1", "path": "a"}')], False),
        ([call("write", READ.arguments)], False),
        ([], False),
        ([READ, READ], False),
    ],
)
def test_against_one_call(candidate: list[ToolCall], same: bool) -> None:
    assert same_calls([READ], candidate) is same
    assert same_calls(candidate, [READ]) is same


def test_order_counts_and_no_calls_are_no_answer() -> None:
    other = call("list", "{}")
    assert same_calls([READ, other], [other, READ]) is False
    assert same_calls([], []) is None
