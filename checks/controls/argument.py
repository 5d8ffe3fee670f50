"""Control: an argument swapped in half of the turns with calls; `CALLS_CHANGED` must fire.

At a near tie no check of a single turn may condemn another argument: what is planted passes them
all, and only the comparison of calls over the whole run can see it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checks import findings as codes
from checks.bounds import ControlResult
from checks.calls.agreement import Change, Comparison
from checks.calls.call_agreement import TurnChange, judge_agreement
from checks.calls.turns import run_calls
from checks.findings import ERROR
from checks.formats import json_values
from checks.formats.json_values import NotJson
from checks.policy import Policy
from checks.stats.sessions import hash_order
from traces.journal.exchange import TurnId
from traces.wire.response import Response, ToolCall

KIND = "argument swapped"
OTHER = "draftgate-control"
"""Put in front of a string, and a part of no recorded command or path."""


@dataclass(frozen=True, slots=True)
class PlantedCall:
    """A turn with an argument swapped, and what the comparison of calls makes of it."""

    session: str
    turn: str
    change: Change | None


def planted_turn(
    turn: TurnId, request: Mapping[str, Any], baseline: Response, candidate: Response
) -> PlantedCall | None:
    """A copy of a turn with an argument swapped; `None` where it holds none, or got no answer."""
    planted = planted_call(run_calls(candidate))
    if planted is None or {baseline.status, candidate.status} != {200}:
        return None
    return PlantedCall(*turn, Comparison(request).change(run_calls(baseline), planted))


def planted_call(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...] | None:
    """The calls with the first string argument of the first call swapped; `None`: there is none."""
    for place, call in enumerate(calls):
        try:
            value = json_values.parse_plain(call.arguments)
        except NotJson:
            continue
        names = [k for k, v in value.items() if isinstance(v, str)] if _is_object(value) else []
        if names:
            text = json.dumps({**value, names[0]: f"{OTHER} {value[names[0]]}"}, ensure_ascii=False)
            return (*calls[:place], replace(call, arguments=text), *calls[place + 1 :])
    return None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def judge_argument_control(
    planted: Sequence[PlantedCall], turns: Sequence[TurnChange], policy: Policy, seed: int
) -> ControlResult:
    """Planted in every second turn of the hash order, and judged as the run is."""
    expected = codes.CALLS_CHANGED
    if not planted:
        none = "no greedy turn calls a tool with a string argument"
        return ControlResult(KIND, expected, "not_applicable", (), none)
    if not any(turn.repeat is not None for turn in turns):
        none = "the baseline repeated no turn with calls, so no change of calls condemns"
        return ControlResult(KIND, expected, "not_applicable", (), none)
    changes = {(one.session, one.turn): one.change for one in planted}
    drawn = set(hash_order(map("/".join, changes), seed)[::2])

    def copies(seen: Change | None) -> list[TurnChange]:
        return [
            replace(turn, candidate=seen or changes[turn.session, turn.turn])
            if f"{turn.session}/{turn.turn}" in drawn
            else turn
            for turn in turns
        ]

    if judge_agreement(copies("consequential"), policy, seed).bound.state != "fail":
        few = f"other calls in {len(drawn)} of {len(turns)} turns would not condemn this run"
        return ControlResult(KIND, expected, "not_applicable", (), few)
    found = judge_agreement(copies(None), policy, seed).findings
    fired = tuple(sorted({finding.code for finding in found if finding.severity == ERROR}))
    detail = f"planted in {len(drawn)} of {len(changes)} turns with calls"
    return ControlResult(KIND, expected, "caught" if expected in fired else "missed", fired, detail)
