"""A schema may ask for any amount of work; what runs over is not judged, and says so."""

from typing import Any

import pytest

from checks.formats import schema


def fan(keyword: str, depth: int) -> dict[str, Any]:
    """2^depth ways through a schema of `depth` definitions, none of which is satisfied."""
    defs: dict[str, Any] = {f"d{depth}": {"type": "string"}}
    for n in range(depth):
        ref = {"$ref": f"#/$defs/d{n + 1}"}
        defs[f"d{n}"] = {keyword: [ref, ref]}
    return {"$defs": defs, "$ref": "#/$defs/d0"}


SLOW = {
    "anyOf": (fan("anyOf", 30), 1),
    "oneOf": (fan("oneOf", 30), 1),
    "allOf": (fan("allOf", 30), "a"),
    "if": ({"$defs": {"a": {"if": {"$ref": "#/$defs/b"}, "then": {"$ref": "#/$defs/b"}}, **{
        c: {"anyOf": [{"$ref": f"#/$defs/{d}"}] * 50} for c, d in ["bc", "cd", "de", "ef", "fg"]
    }, "g": False}, "$ref": "#/$defs/a"}, 1),
    "patterns": (
        {"items": {"pattern": "^(a|aa)+$"}},
        ["a" * n + "b" for n in range(4, 7)] * 2000,
    ),
    "long array": ({"items": {"minimum": 1, "maximum": 9}}, [5] * 300_000),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOW)
def test_too_much_work_is_not_judged(name: str) -> None:
    with pytest.raises(schema.UnusableSchema, match=r"takes (more than|too long)"):
        schema.violations(*SLOW[name])


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
