"""The calls of one greedy turn on both paths, and in the baseline's repeat."""

from collections.abc import Mapping
from typing import Any

from checks.calls.agreement import Comparison
from checks.calls.call_agreement import TurnChange
from checks.formats.json_values import is_json
from traces.journal.exchange import TurnId
from traces.wire.response import Response, ToolCall


def turn_change(
    turn: TurnId,
    request: Mapping[str, Any],
    baseline: Response,
    candidate: Response,
    repeat: Response | None,
) -> TurnChange | None:
    """What became of its calls; `None` where a path did not answer it."""
    if {baseline.status, candidate.status} != {200}:
        return None
    compared, calls = Comparison(request), run_calls(baseline)
    again = repeat if repeat is not None and repeat.status == 200 else None
    return TurnChange(
        *turn,
        compared.change(calls, run_calls(candidate)),
        None if again is None else compared.change(calls, run_calls(again)),
        again is not None,
    )


def run_calls(response: Response) -> tuple[ToolCall, ...]:
    """The calls a client runs: but for one that max_tokens cut."""
    calls = response.tool_calls
    cut = response.finish_reason == "length"
    return calls[:-1] if calls and cut and not is_json(calls[-1].arguments) else calls
