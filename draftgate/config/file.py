"""Reading `draftgate.toml`: every mistake is named by file, key and the nearest valid name."""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from draftgate.config.config import Config, FixableError
from draftgate.config.overrides import Overrides
from traces.errors import ConfigError


def read_config(path: Path, overrides: Overrides | None = None) -> Config:
    """The configuration in `path`, with `overrides` (section -> key -> value) laid over it.

    Raises ConfigError, naming the file and each wrong key, for a file that is missing, is not
    TOML, has an unknown key, or has a value out of range.
    """
    return parse_config(laid_over(read_tables(path), overrides or {}), str(path))


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of the file in `path`, as they stand. Raises ConfigError as `read_config` does."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such configuration file", "name one with -c, or write draftgate.toml"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}", "fix the line named") from None
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror})", "name a configuration file with -c"
        ) from None


def laid_over(data: Mapping[str, Any], overrides: Overrides) -> dict[str, Any]:
    """The tables with some keys given otherwise; what is no table is left for the error."""
    merged = dict(data)
    for section, values in overrides.items():
        table = merged.get(section, {})
        if isinstance(table, Mapping):
            merged[section] = {**table, **values}
    return merged


def parse_config(data: dict[str, Any], origin: str) -> Config:
    """`data` as a Config; see `read_config` for the errors."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        problems = [_problem(dict(e)) for e in error.errors(include_url=False)]
        fixes = [fix for *_, fix in problems if fix]
        said: dict[str, list[str]] = {}
        for where, text, _ in problems:
            said.setdefault(where, []).append(text)
        raise ConfigError(
            f"{origin}: " + "; ".join(_in_words(*named) for named in said.items()),
            "; ".join(fixes) or "`draftgate docs configuration` has every key",
        ) from None


def _in_words(where: str, texts: list[str]) -> str:
    """What is wrong with one key; each kind of value that it may have says what it lacks."""
    text = ", or ".join(dict.fromkeys(texts))
    return f"{where}: {text}" if where else text


def _problem(error: dict[str, Any]) -> tuple[str, str, str]:
    """(key, what is wrong, how to fix it) of one pydantic error."""
    location = _key_of([str(part) for part in error["loc"]])
    where = ".".join(location)
    if error["type"] == "model_type":
        return where, "is no table", f"write it as `[{where}]`, with its keys below"
    if error["type"] != "extra_forbidden":
        cause = error.get("ctx", {}).get("error")
        fix = cause.fix if isinstance(cause, FixableError) else ""
        said = str(error["msg"]).removeprefix("Value error, ")
        return where, said, fix
    known = list(_names_at(location[:-1]))
    near = difflib.get_close_matches(location[-1], known, n=1, cutoff=0.5)
    fix = f"did you mean `{near[0]}`?" if near else f"known here: {', '.join(sorted(known))}"
    return where, "unknown key", fix


def _key_of(location: list[str]) -> list[str]:
    """The place of an error. Of a key that may have values of several kinds it ends there:
    ``run.temperature``, not ``run.temperature.constrained-float``."""
    model: type[BaseModel] = Config
    for size, part in enumerate(location, 1):
        if part.isdecimal():
            continue
        if part not in model.model_fields:
            break
        kinds = [k for k in _kinds(model, part) if k is not NoneType]
        inside = _table(model, part)
        if inside is None:
            return location[:size] if len(kinds) > 1 else location
        model = inside
    return location


def _kinds(model: type[BaseModel], key: str) -> tuple[Any, ...]:
    """The kinds of values that a key may have."""
    annotation = model.model_fields[key].annotation
    several = get_origin(annotation) in (Union, UnionType)
    return get_args(annotation) if several else (annotation,)


def _table(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The table that a key holds, or holds a list of."""
    annotation = model.model_fields[key].annotation
    kinds = (annotation, *get_args(annotation))
    found = (k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel))
    return next(found, None)


def _names_at(location: list[str]) -> Iterator[str]:
    """The valid keys of the table at `location`."""
    model: type[BaseModel] = Config
    for part in location:
        if part.isdecimal():
            continue
        inside = _table(model, part) if part in model.model_fields else None
        if inside is None:
            return
        model = inside
    yield from model.model_fields
