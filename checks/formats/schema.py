"""JSON Schema, in the dialect the schema declares, without formats, without fetching.

`$schema` chooses the draft (2020-12 where it is absent). `format` asserts nothing. A `$ref` is
resolved inside the schema only: nothing is ever fetched. Patterns have a time limit.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jsonschema
import referencing
import referencing.exceptions
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for

from checks.formats.patterns import PatternUnusable
from checks.formats.schema_keywords import checkable
from checks.formats.schema_work import TooMuchWork, limited_work, too_large

DEFAULT = jsonschema.Draft202012Validator


class UnusableSchema(ValueError):
    """The schema itself is wrong; the message says where (a JSON Pointer) and how."""


def schema_problem(schema: Any) -> str | None:
    """What is wrong with the schema itself: ``/properties/n/type: 'strng' is not valid …``."""
    try:
        _validator(schema)
    except UnusableSchema as problem:
        return str(problem)
    return None


def violations(schema: Any, value: Any) -> list[str]:
    """How `value` violates `schema`, one line per violation; empty where it does not.

    Raises `UnusableSchema` where the schema is invalid, declares an unknown dialect, refers to
    something outside itself, takes too much work, or holds a pattern that does not compile or takes
    too long.
    """
    validator = _validator(schema)
    try:
        unlimited = _unlimited(json.dumps(schema))
        if unlimited is not None:
            raise UnusableSchema(unlimited)
        with limited_work():
            found = validator.iter_errors(value)
            errors = sorted(found, key=lambda error: list(map(str, error.path)))
    except referencing.exceptions.Unresolvable as error:
        raise UnusableSchema(f"$ref {error.ref!r} does not resolve inside the schema") from error
    except TooMuchWork as error:
        raise UnusableSchema(str(error)) from error
    except PatternUnusable as error:
        raise UnusableSchema(str(error)) from error
    except RecursionError as error:
        raise UnusableSchema("the schema or the value is nested too deeply") from error
    return [_line(error) for error in errors]


def _validator(schema: Any) -> Any:
    if not isinstance(schema, Mapping | bool):
        raise UnusableSchema(f"a schema is an object or a boolean, not {type(schema).__name__}")
    try:
        return _checked(json.dumps(schema))
    except RecursionError as error:
        raise UnusableSchema("the schema is nested too deeply") from error


@lru_cache(maxsize=512)
def _checked(text: str) -> Any:
    """The validator of a schema; checking a schema costs far more than using it."""
    schema: Any = json.loads(text)
    if (why := too_large(schema)) is not None:
        raise UnusableSchema(why)
    declared = schema.get("$schema") if isinstance(schema, Mapping) else None
    find: Any = validator_for
    cls: Any = find(schema, default=None) if declared else DEFAULT
    if cls is None:
        raise UnusableSchema(f"/$schema: the dialect {declared!r} is not known")
    try:
        cls.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
    except SchemaError as error:
        raise UnusableSchema(_line(error)) from error
    return checkable(cls)(schema, registry=referencing.Registry())


@lru_cache(maxsize=512)
def _unlimited(text: str) -> str | None:
    """Why patterns of a schema would be matched without a time limit, where that is so."""
    if '"unevaluatedProperties"' in text and '"patternProperties"' in text:
        return "patternProperties beside unevaluatedProperties is not checked"
    inner = json.loads(text)
    if isinstance(inner, dict):
        inner = list(inner.values())
    return "a dialect inside a schema is not checked" if _declares(inner) else None


def _declares(part: Any) -> bool:
    """Whether a part declares a dialect, whose own keywords `jsonschema` would then use."""
    if isinstance(part, dict):
        return isinstance(part.get("$schema"), str) or any(map(_declares, part.values()))
    return isinstance(part, list) and any(map(_declares, part))


def _line(error: ValidationError | SchemaError) -> str:
    pointer = "".join(f"/{part}" for part in error.absolute_path)
    return f"{pointer or '/'}: {error.message[:200]}"
