"""Assertions for test suites: with the pytest plugin, or with what the suite captured itself.

    from draftgate.testing import assert_equivalent, assert_stream_intact

    def test_turn(both_paths):
        assert_stream_intact(both_paths)
        assert_equivalent(both_paths)

They raise AssertionError with both sides of what was found and without secrets, and `Inconclusive`
where they can neither pass nor fail. Importing this package is light.
"""

from draftgate.testing.answer import Answer
from draftgate.testing.both_paths import BothPaths
from draftgate.testing.equivalence import assert_equivalent
from draftgate.testing.inconclusive import Inconclusive
from draftgate.testing.recorded_turn import RecordedTurn
from draftgate.testing.splits import SplitWarning, assert_split_invariant
from draftgate.testing.stream import assert_stream_intact
from draftgate.testing.tool_calls import assert_tool_calls_valid
from draftgate.testing.verdict import assert_gate_passed

__all__ = [
    "Answer",
    "BothPaths",
    "Inconclusive",
    "RecordedTurn",
    "SplitWarning",
    "assert_equivalent",
    "assert_gate_passed",
    "assert_split_invariant",
    "assert_stream_intact",
    "assert_tool_calls_valid",
]
