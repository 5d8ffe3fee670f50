"""The JSON Schema keywords that match patterns, for `jsonschema`, within a time limit.

`jsonschema` matches with `re`, which a hostile pattern can keep busy for years. These take its
place; they follow `jsonschema/_keywords.py`, and give the same errors in other words.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from checks.formats.patterns import found_in


def pattern(validator: Any, rule: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    """A string holds a match."""
    if validator.is_type(value, "string") and not found_in(rule, value):
        yield ValidationError(f"{value!r} does not match {rule!r}")


def pattern_properties(
    validator: Any, rules: Mapping[str, Any], value: Any, schema: Any
) -> Iterator[ValidationError]:
    """The values of keys that match satisfy the rule of every pattern they match."""
    if not validator.is_type(value, "object"):
        return
    for each, rule in rules.items():
        for key, inner in value.items():
            if found_in(each, key):
                yield from validator.descend(inner, rule, path=key, schema_path=each)


def additional_properties(
    validator: Any, rule: Any, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Keys that neither `properties` nor `patternProperties` know satisfy `rule`."""
    if not validator.is_type(value, "object"):
        return
    patterns = schema.get("patternProperties", {})
    known = schema.get("properties", {})
    extra = [
        key for key in value if key not in known and not any(found_in(p, key) for p in patterns)
    ]
    if validator.is_type(rule, "object"):
        for key in extra:
            yield from validator.descend(value[key], rule, path=key)
    elif rule is False and extra:
        names = ", ".join(map(repr, extra))
        yield ValidationError(f"Additional properties are not allowed ({names} unexpected)")


KEYWORDS = {
    "pattern": pattern,
    "patternProperties": pattern_properties,
    "additionalProperties": additional_properties,
}


def with_limits(validator: Any) -> Any:
    """The validator class of a draft with these keywords in place of its own."""
    change: Any = extend
    return change(validator, {k: v for k, v in KEYWORDS.items() if k in validator.VALIDATORS})
