"""Case files whose values are of any type: each is judged, or refused with its place named."""

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from checks.cases.judge import judge_case
from tests.support.case_builder import request, streamed
from tests.support.cases import KINDS
from traces.cases.case import parse_case
from traces.errors import InputError

MUTATIONS = 4000
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**70, 10**400),
    *(0.5, 1e308, math.inf, math.nan, "", "a", "\ud800", "9" * 50, "1e999999999"),
    *([], {}, [[]], [None], [1], ["a"], {"a": 1}, {"type": 5}, [{"function": 1}]),
    *({"function": {"name": []}}, {"type": "object", "properties": 5}),
]
Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*place, key)
            yield from places(inner, (*place, key))


def changed(case: Any, place: Place, value: Any) -> None:
    for key in place[:-1]:
        case = case[key]
    case[place[-1]] = value


def test_mutated_cases_are_judged_or_refused() -> None:
    """4,000 of them; before requests were typed, one in 54 ended in a traceback."""
    rng = random.Random(17)
    cases = [
        json.dumps({**whole, "scenarios": [scenario]})
        for file in KINDS
        for whole in [json.loads(file.read_text())]
        for scenario in whole["scenarios"]
    ]
    all_places = [list(places(json.loads(case))) for case in cases]
    refused: list[InputError] = []
    for _ in range(MUTATIONS):
        number = rng.randrange(len(cases))
        case = json.loads(cases[number])
        changed(case, rng.choice(all_places[number]), rng.choice(VALUES))
        try:
            judge_case(parse_case(json.dumps(case), "x.case.json"), "x.case.json")
        except InputError as error:
            refused.append(error)
    assert 0 < len(refused) < MUTATIONS
    assert [e for e in refused if not (str(e).startswith("x.case.json: ") and e.fix)] == []


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("temperature", "cold", "request.temperature"),
        ("max_tokens", [1], "request.max_tokens"),
        ("stop", 5, "request.stop"),
        ("stream_options", "yes", "request.stream_options"),
        ("tools", [{"function": {"name": 5}}], "request.tools[0].function.name"),
        ("response_format", "json", "request.response_format"),
        ("structured_outputs", {"choice": "a"}, "request.structured_outputs.choice"),
        ("logit_bias", [1], "request.logit_bias"),
        ("presence_penalty", "1", "request.presence_penalty"),
    ],
)
def test_a_wrong_type_in_a_request_is_named(field: str, value: Any, place: str) -> None:
    scenario = {"name": "bad", "request": request(**{field: value}), "candidate": streamed("ok")}
    case = parse_case(json.dumps({"case": 1, "kind": "k", "scenarios": [scenario]}), "x")
    with pytest.raises(InputError) as caught:
        judge_case(case, "x")
    assert f"scenario 'bad': {place}: " in str(caught.value)


@pytest.mark.parametrize(
    "field", ["num_drafts", "num_draft_tokens", "num_accepted_tokens", "accepted_per_pos"]
)
@pytest.mark.parametrize("count", [2**53, -(2**53), 10**40])
def test_a_count_that_no_server_can_have_is_named(field: str, count: int) -> None:
    row = {"boundary": "all", "context_bucket": "0-8k", "num_drafts": 20312}
    row |= {"num_draft_tokens": 162496, "accepted_per_pos": [8], "num_accepted_tokens": 8}
    row[field] = [count] if field == "accepted_per_pos" else count
    scenario = {"name": "x", "expected": {"verdict": "pass"}, "acceptance": {"profile": [row]}}
    case = {"case": 1, "kind": "acceptance_dead", "scenarios": [scenario]}
    with pytest.raises(InputError, match=rf"profile\[0\]\.{field}"):
        parse_case(json.dumps(case), "x.case.json")
