"""Can a client run the call? Checked against plain `jsonschema` on plain `json.loads`."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checks.calls.outcomes import tool_success
from checks.exact.judge import judge_pair
from checks.formats import json_values
from checks.pair import pair_of_responses
from traces.wire.reassembly import response_of_chunks
from traces.wire.response import Response

BIG = 10**400


def _request(schema: Any) -> dict[str, Any]:
    return {
        "temperature": 0,
        "tools": [{"type": "function", "function": {"name": "run", "parameters": schema}}],
    }


def _response(arguments: str) -> Response:
    call = {"index": 0, "id": "c", "function": {"name": "run", "arguments": arguments}}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    return response_of_chunks([{"choices": [choice]}], done=True, status=200)


def _succeeds(schema: Any, arguments: str) -> bool:
    return tool_success(_request(schema), _response(arguments))


def _property(rule: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"n": rule}, "required": ["n"]}


@pytest.mark.parametrize(
    ("rule", "value", "valid"),
    [
        ({"type": "integer"}, "41", True),
        ({"type": "integer"}, "41.0", True),
        ({"type": "integer"}, "41.5", False),
        ({"type": "integer"}, "true", False),
        ({"type": "integer"}, '"41"', False),
        ({"type": "number"}, "41", True),
        ({"type": "number"}, "-4.1e-1", True),
        ({"type": "number"}, "false", False),
        ({"type": "integer", "minimum": 10}, "9", False),
        ({"type": "integer", "maximum": 2**63}, "9223372036854775809", False),
        ({"type": "integer", "maximum": 2**63}, "9223372036854775808", True),
        ({"enum": [1, 2]}, "2", True),
        ({"enum": [1, 2]}, "2.0", True),
        ({"enum": [1, 2]}, "3", False),
        ({"const": 0.1}, "0.1", True),
        ({"const": True}, "1", False),
        ({"multipleOf": 0.5}, "2.5", True),
        ({"multipleOf": 3}, "9", True),
        ({"multipleOf": 3}, "10", False),
        ({"uniqueItems": True}, "[1, 1.0]", False),
        ({"uniqueItems": True}, "[1, true]", True),
        # beyond what a float holds: plain jsonschema raises OverflowError or ValueError
        ({"multipleOf": 0.1}, f"{BIG}", True),
        ({"multipleOf": 0.3}, f"{BIG}", False),
        ({"multipleOf": 0.1}, "1e400", False),
        ({"multipleOf": 2}, "1e400", False),
        ({"multipleOf": BIG}, "1.5", False),
        ({"multipleOf": BIG}, f"{2 * BIG}", True),
        ({"multipleOf": BIG}, "1e400", False),
        ({"multipleOf": 1e300}, f"{BIG}", True),
        ({"type": "integer"}, f"{BIG}", True),
        ({"type": "integer"}, "1" * 4300, True),
    ],
)
def test_numbers(rule: dict[str, Any], value: str, valid: bool) -> None:
    schema, arguments = _property(rule), f'{{"n": {value}}}'
    assert _succeeds(schema, arguments) is valid
    response = _response(arguments)
    found = judge_pair(pair_of_responses(_request(schema), response, response))
    assert [f.code for f in found.findings if f.code.startswith("ARGS")] == (
        [] if valid else ["ARGS_SCHEMA"]
    )


@pytest.mark.parametrize("arguments", ['{"n": 1' + "1" * 4300 + "}", '{"n": NaN}', '{"n": 01}'])
def test_what_no_client_reads_is_no_success(arguments: str) -> None:
    assert not _succeeds(_property({}), arguments)
    with pytest.raises(json_values.NotJson):
        json_values.parse_plain(arguments)


def test_a_number_of_many_digits_is_shown_at_once() -> None:
    left, right = json_values.parse("[1e99999999, 3]"), json_values.parse("4")
    found = next(json_values.differences(left, right))
    assert (found.left, found.right) == ("[Infinity, 3]", "4")


numbers = st.one_of(
    st.integers(-5, 20),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, 1, 0.5, 0.1, 2.0, 1e300, -1e300, 5e-324, 2**53 + 1, 2**64, BIG, -BIG]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=3))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
positive = st.one_of(
    st.integers(1, 12), st.sampled_from([0.1, 0.5, 0.01, 1e-300, 1e300, 2.0, 2**64, BIG])
)
lengths = st.integers(0, 3)


def _rules(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.one_of(
                st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), min_size=1, unique=True)
            ),
            "enum": st.lists(values, min_size=1, max_size=3),
            "const": values,
            "minimum": numbers,
            "exclusiveMaximum": numbers,
            "multipleOf": positive,
            "minLength": lengths,
            "maxLength": lengths,
            "uniqueItems": st.booleans(),
            "maxItems": lengths,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
            "additionalProperties": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    )


schemas = st.recursive(st.one_of(st.booleans(), _rules(st.booleans())), _rules, max_leaves=4)
DRAFTS = [
    jsonschema.Draft202012Validator,
    jsonschema.Draft7Validator,
    jsonschema.Draft4Validator,
]


@settings(max_examples=500, deadline=None)
@given(schemas, values, st.sampled_from(DRAFTS))
def test_success_is_what_plain_jsonschema_says(schema: Any, value: Any, draft: Any) -> None:
    """Of any schema and value, but where plain `jsonschema` itself raises."""
    if isinstance(schema, dict):
        schema = {"$schema": draft.META_SCHEMA.get("$id") or draft.META_SCHEMA["id"], **schema}
    else:
        draft = jsonschema.Draft202012Validator
    arguments = json.dumps(value)
    try:
        draft.check_schema(schema)
    except jsonschema.SchemaError:
        assume(False)
    try:
        plain = draft(schema).is_valid(json.loads(arguments))
    except (OverflowError, ValueError):
        plain = None
    found = _succeeds(schema, arguments)
    assert plain is None or found is plain
