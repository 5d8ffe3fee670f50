"""Control: the right output with the wrong finish_reason; `FINISH_REASON_WRONG` must fire.

A client that reads ``stop`` beside a tool call never runs it (a fault of streaming layers that is
independent of tokens).
"""

from dataclasses import replace

from checks import findings as codes
from checks.controls.pair_control import PairControl, is_comparable, with_stream
from checks.pair import Pair

CHANGED = {"tool_calls": "stop", "stop": "length"}


def plant_finish(pair: Pair) -> Pair | None:
    """``tool_calls`` becomes ``stop``, ``stop`` becomes ``length``."""
    stream = pair.candidate.stream
    other = CHANGED.get(pair.candidate.finish_reason or "")
    if stream is None or other is None:
        return None
    changed = replace(stream, finish_reason=other)
    return replace(pair, candidate=with_stream(pair.candidate, changed))


FINISH = PairControl(
    "finish_reason changed",
    codes.FINISH_REASON_WRONG,
    is_comparable,
    plant_finish,
    "no turn ends with the same tokens on both paths",
)
