"""What is no fault and hides none: the same scenario written or cut in another way.

Every scenario of the case files, keeps its codes when empty deltas
come between, each delta arrives character by character, absent fields are null, tokens have other
ids, reasoning has its older name, arguments are spelled otherwise, or rows come in another order.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from checks.cases.judge import judge_scenario
from tests.support.cases import BY_HAND, KINDS
from traces.cases.case import parse_case

Scenario = dict[str, Any]


def chunks_of(scenario: Scenario) -> list[dict]:
    return (scenario.get("candidate") or {}).get("chunks") or []


def choices(scenario: Scenario) -> Iterator[dict]:
    for chunk in chunks_of(scenario):
        yield from (chunk.get("choices") or [])[:1]


def empty_deltas_between(scenario: Scenario) -> Scenario:
    """Timed chunks are left as they are: each has its own time."""
    if chunks_of(scenario) and not scenario["candidate"].get("chunk_times_ms"):
        empty = {"choices": [{"index": 0, "delta": {}, "finish_reason": None}]}
        spread = [part for chunk in chunks_of(scenario) for part in (deepcopy(empty), chunk)]
        scenario["candidate"]["chunks"] = [*spread, {"choices": []}]
    return scenario


def character_by_character(scenario: Scenario) -> Scenario:
    if chunks_of(scenario) and not scenario["candidate"].get("chunk_times_ms"):
        cut = [part for chunk in chunks_of(scenario) for part in characters(chunk)]
        scenario["candidate"]["chunks"] = cut
    return scenario


def characters(chunk: dict) -> list[dict]:
    """A chunk of one text, or of one call, as one chunk per character; ids go with the first."""
    choice = (chunk.get("choices") or [{}])[0]
    delta = choice.get("delta") or {}
    texts = [k for k in ("content", "reasoning") if delta.get(k)]
    calls = delta.get("tool_calls") or []
    if len(texts) + len(calls) != 1:
        return [chunk]
    function = (calls[0].get("function") or {}) if calls else {}
    text = function.get("arguments") or "" if calls else delta[texts[0]]
    parts = []
    for place, letter in enumerate(text):
        part = deepcopy(chunk)
        mine = part["choices"][0]
        if calls:
            call = calls[0] if place == 0 else {"index": calls[0].get("index", 0)}
            header = function if place == 0 else {}
            mine["delta"] = {"tool_calls": [call | {"function": header | {"arguments": letter}}]}
        else:
            mine["delta"] = (delta if place == 0 else {}) | {texts[0]: letter}
        if place:
            mine |= {"logprobs": None} | ({"token_ids": []} if "token_ids" in mine else {})
        if place < len(text) - 1:
            mine["finish_reason"] = None
        parts.append(part)
    return parts or [chunk]


def null_where_absent(scenario: Scenario) -> Scenario:
    for choice in choices(scenario):
        if isinstance(choice.get("delta"), dict):
            unsent = dict.fromkeys(("content", "reasoning", "tool_calls", "refusal", "role"))
            choice["delta"] = unsent | choice["delta"]
    parts = dict.fromkeys(("request", "baseline", "candidate", "acceptance", "context"))
    return parts | scenario


def other_ids(scenario: Scenario) -> Scenario:
    for side in ("baseline", "candidate"):
        for token in (scenario.get(side) or {}).get("tokens") or []:
            for entry in (token, *(token.get("top_logprobs") or [])):
                if entry.get("id") is not None:
                    entry["id"] += 11
    for choice in choices(scenario):
        if choice.get("token_ids"):
            choice["token_ids"] = [number + 11 for number in choice["token_ids"]]
    return scenario


def older_name_of_reasoning(scenario: Scenario) -> Scenario:
    message = (scenario.get("baseline") or {}).get("message") or {}
    for part in (message, *((choice.get("delta") or {}) for choice in choices(scenario))):
        if "reasoning" in part and "reasoning_content" not in part:
            part["reasoning_content"] = part.pop("reasoning")
    return scenario


def arguments_spelled_otherwise(scenario: Scenario) -> Scenario:
    """Of the baseline; text that is no JSON, and an output that ends inside a call, stay."""
    stopped = "PREMATURE_EOS" in scenario["expected"]["codes"]
    calls = ((scenario.get("baseline") or {}).get("message") or {}).get("tool_calls") or []
    for call in [] if stopped else calls:
        try:
            value = json.loads(call["function"]["arguments"])
        except ValueError:
            continue
        call["function"]["arguments"] = json.dumps(value, indent=1, sort_keys=True)
    return scenario


def rows_in_another_order(scenario: Scenario) -> Scenario:
    for rows in ("profile", "reference"):
        ((scenario.get("acceptance") or {}).get(rows) or []).reverse()
    return scenario


CHANGES: list[Callable[[Scenario], Scenario]] = [
    empty_deltas_between,
    character_by_character,
    null_where_absent,
    other_ids,
    older_name_of_reasoning,
    arguments_spelled_otherwise,
    rows_in_another_order,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_that_changes_nothing(change) -> None:
    wrong = []
    changed = 0
    for file in [*KINDS, BY_HAND]:
        for scenario in json.loads(file.read_text(encoding="utf-8"))["scenarios"]:
            other = change(deepcopy(scenario))
            changed += other != scenario
            text = json.dumps({"case": 1, "kind": "changed", "scenarios": [other]})
            judged = judge_scenario(parse_case(text, file.name).scenarios[0])
            if judged.codes != sorted(set(scenario["expected"]["codes"])):
                wrong.append((file.name, scenario["name"], judged.codes))
    assert wrong == []
    assert changed > 0
