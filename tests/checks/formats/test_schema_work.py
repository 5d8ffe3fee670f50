"""A schema may ask for any amount of work; what runs over is not judged, and says so."""

import math
from typing import Any

import pytest

from checks.formats import schema, schema_work


def fan(keyword: str, depth: int) -> dict[str, Any]:
    """2^depth ways through a schema of `depth` definitions, none of which is satisfied."""
    defs: dict[str, Any] = {f"d{depth}": {"type": "string"}}
    for n in range(depth):
        ref = {"$ref": f"#/$defs/d{n + 1}"}
        defs[f"d{n}"] = {keyword: [ref, ref]}
    return {"$defs": defs, "$ref": "#/$defs/d0"}


def objects(number: int) -> list[dict[str, int]]:
    return [{"a": n} for n in range(number)]


CIRCLE = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
WORK, LIST, PARTS = r"takes (more than|too long)", "has a list of", "parts, and may have"

SLOW: dict[str, tuple[Any, Any, str]] = {
    "anyOf": (fan("anyOf", 30), 1, WORK),
    "oneOf": (fan("oneOf", 30), 1, WORK),
    "allOf": (fan("allOf", 30), "a", WORK),
    "if": ({"$defs": {"a": {"if": {"$ref": "#/$defs/b"}, "then": {"$ref": "#/$defs/b"}}, **{
        c: {"anyOf": [{"$ref": f"#/$defs/{d}"}] * 50} for c, d in ["bc", "cd", "de", "ef", "fg"]
    }, "g": False}, "$ref": "#/$defs/a"}, 1, WORK),
    "unevaluatedProperties": ({**fan("allOf", 30), "unevaluatedProperties": False}, {"a": 1}, WORK),
    "unevaluatedItems": ({"prefixItems": [True], "unevaluatedItems": False}, [1] * 30_000, WORK),
    "patterns": (
        {"items": {"pattern": "^(a|aa)+$"}},
        ["a" * n + "b" for n in range(4, 7)] * 2000,
        WORK,
    ),
    "long array": ({"items": {"minimum": 1, "maximum": 9}}, [5] * 300_000, WORK),
    "keys nobody knows": ({"items": {f"k{n}": 1 for n in range(9_000)}}, [1] * 100_000, WORK),
    "required": ({"items": {"required": [f"k{n}" for n in range(20_000)]}}, [{}] * 10_000, WORK),
    "enum": ({"items": {"enum": objects(900)}}, [{"a": -1}] * 10_000, WORK),
    "const": ({"items": {"const": [0] * 5_000}}, [[0] * 4_999 + [1]] * 2_000, WORK),
    "uniqueItems": ({"allOf": [{"uniqueItems": True}] * 900}, objects(20_000), WORK),
    "long messages": ({"allOf": [{"type": "string"}] * 900}, ["x" * 10] * 50_000, WORK),
    "compared two by two": ({"required": [1, "a"] * 5_000}, {}, LIST),
    "enum of draft 4": ({"$schema": DRAFT_4, "enum": objects(5_000)}, 1, LIST),
    "a huge schema": ({"properties": {f"k{n}": {} for n in range(60_000)}}, {}, PARTS),
    "a circle": (CIRCLE, 1, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOW)
def test_too_much_work_is_not_judged(name: str) -> None:
    """Each would take a minute at least, and most for ever."""
    rule, value, why = SLOW[name]
    with pytest.raises(schema.UnusableSchema, match=why):
        schema.violations(rule, value)


@pytest.mark.parametrize(
    ("rule", "value", "errors"),
    [
        ({"items": {"multipleOf": 1e-300}}, [1e308, math.inf], 2),
        ({"multipleOf": 0.1}, 10**400, 0),
        ({"multipleOf": 10**400}, 10**401, 0),
        ({"multipleOf": 10**400}, 1.5, 1),
        ({"multipleOf": math.inf}, 7, 1),
        ({"multipleOf": 3}, -math.inf, 1),
    ],
)
def test_numbers_that_no_float_holds_are_judged(rule: Any, value: Any, errors: int) -> None:
    assert len(schema.violations(rule, value)) == errors


def test_a_page_of_arguments_takes_a_small_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    part = schema_work.Work(schema_work.STEPS // 50)
    monkeypatch.setattr(schema_work, "Work", lambda: part)
    entry = {"type": "object", "properties": {"path": {"type": "string"}, "line": {"minimum": 0}}}
    rule = {
        "type": "object",
        "properties": {"edits": {"type": "array", "items": entry, "uniqueItems": True}},
        "required": ["edits"],
    }
    value = {"edits": [{"path": f"src/{n}.py", "line": n} for n in range(200)]}
    assert schema.violations(rule, value) == []
    assert part.steps > 0


def test_usual_schemas_take_none_of_it() -> None:
    assert schema.violations(fan("anyOf", 8), "a") == []
    assert len(schema.violations({"items": {"type": "integer"}}, ["a"] * 100)) == 100


@pytest.mark.parametrize(
    ("value", "unique"),
    [
        ([], True),
        ([1, 1.0], False),
        ([1, True], True),
        ([0, False, None, "", [], {}], True),
        ([[1], [True]], True),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
        (["1", 1], True),
        ([{"a": 1}, {"a": 1, "b": None}], True),
        (list(range(200_000)), True),
        ([[n] for n in range(100_000)], True),
        ([{"a": n} for n in range(100_000)] + [{"a": 5}], False),
    ],
)
def test_unique_items_as_json_has_them_in_linear_time(value: list[Any], unique: bool) -> None:
    found = schema.violations({"uniqueItems": True}, value)
    assert (found == []) is unique


def test_a_reference_to_a_file_or_the_network_is_never_followed() -> None:
    for place in ("file:///etc/passwd", "http://127.0.0.1:9/schema", "other.json#/a"):
        with pytest.raises(schema.UnusableSchema, match="does not resolve inside the schema"):
            schema.violations({"$ref": place}, 1)
