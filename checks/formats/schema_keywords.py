"""The JSON Schema keywords of `jsonschema` that a stranger's schema or value can break.

It matches patterns with `re`, which a hostile one can keep busy for years: these have a time limit.
Its `multipleOf` divides floats, which raises where a number is infinite or too large for one. These
take its place; they follow `jsonschema/_keywords.py`, and give the same errors in other words.
Its `uniqueItems` compares every two entries. All keywords are counted (`schema_work`).
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from jsonschema.exceptions import ValidationError
from jsonschema.validators import create

from checks.formats import patterns
from checks.formats.schema_work import PATTERN, counted, spend, visits


def found_in(rule: str, text: str) -> bool:
    """`patterns.found_in`, counted."""
    spend(PATTERN)
    return patterns.found_in(rule, text)


def unique_items(validator: Any, rule: bool, value: Any, schema: Any) -> Iterator[ValidationError]:
    """No two entries are equal; in linear time, where `jsonschema` compares every two."""
    if not rule or not validator.is_type(value, "array"):
        return
    if len(set(map(_hashable, value))) < len(value):
        yield ValidationError(f"{value!r:.150} has non-unique elements")


def _hashable(value: Any) -> Any:
    """Equal exactly where two JSON values are: ``1`` and ``1.0`` are, ``1`` and ``true`` not."""
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, list):
        return (list, tuple(map(_hashable, value)))
    if isinstance(value, dict):
        return (dict, frozenset((key, _hashable(inner)) for key, inner in value.items()))
    return value


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
    rules = schema.get("patternProperties", {})
    known = schema.get("properties", {})
    extra = [key for key in value if key not in known and not any(found_in(p, key) for p in rules)]
    if validator.is_type(rule, "object"):
        for key in extra:
            yield from validator.descend(value[key], rule, path=key)
    elif rule is False and extra:
        names = ", ".join(map(repr, extra))
        yield ValidationError(f"Additional properties are not allowed ({names} unexpected)")


def multiple_of(own: Any) -> Any:
    """The draft's `own` rule where it has an answer; exact arithmetic where it overflows.

    A multiple is then one in decimals: 10^400 is one of 0.1. Infinity (1e400) is a multiple of
    nothing, and has none.
    """

    def keyword(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if not validator.is_type(value, "number"):
            return
        wrong = math.inf in (abs(value), rule)
        try:
            if not wrong:
                yield from own(validator, rule, value, schema)
        except (OverflowError, ValueError):
            wrong = _exact(value) % _exact(rule) != 0
        if wrong:
            yield ValidationError(f"{value!r} is not a multiple of {rule!r}")

    return keyword


def _exact(number: Any) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


KEYWORDS = {
    "pattern": pattern,
    "patternProperties": pattern_properties,
    "additionalProperties": additional_properties,
    "uniqueItems": unique_items,
}


def checkable(validator: Any) -> Any:
    """The validator class of a draft with these keywords in place of its own."""
    make: Any = create
    own = validator.VALIDATORS
    keywords = {**own, **{k: v for k, v in KEYWORDS.items() if k in own}}
    if "multipleOf" in own:
        keywords["multipleOf"] = multiple_of(own["multipleOf"])
    return make(
        meta_schema=validator.META_SCHEMA,
        validators={name: counted(name, keyword) for name, keyword in keywords.items()},
        type_checker=validator.TYPE_CHECKER,
        format_checker=validator.FORMAT_CHECKER,
        id_of=validator.ID_OF,
        applicable_validators=visits("$dynamicRef" not in own and "$recursiveRef" not in own),
    )
