"""Say what is wrong with a case file in one line: the scenario, the field, the nearest name.

scenario 'bad': candidate.tokens[3].logprobs is not a known field
fix: rename it to `logprob` (known: id, text, logprob, top_logprobs)
"""

import difflib
import json
import types
import typing
from typing import Any

from pydantic import BaseModel, ValidationError

Place = tuple[int | str, ...]

NO_CASE = "a case file is one JSON object; `draftgate inspect` shows recordings"


def problem_of(
    model: type[BaseModel], data: str | bytes, error: ValidationError
) -> tuple[str, str]:
    """(what and where, the fix) of the first problem pydantic found in `data`."""
    first = error.errors(include_url=False)[0]
    place = tuple(part for part in first["loc"] if not _is_branch(part))
    where = _where(place, data)
    if first["type"] == "extra_forbidden":
        known = known_fields(model, place[:-1])
        near = difflib.get_close_matches(str(place[-1]), known, n=1, cutoff=0.5)
        names = f"known: {', '.join(known)}"
        fix = f"rename it to `{near[0]}` ({names})" if near else f"remove it ({names})"
        return f"{where} is not a known field", fix
    if first["type"] == "json_invalid":
        return f"not JSON: {first['msg']}", NO_CASE
    if first["type"] == "missing":
        return f"{where} is missing", f"add `{place[-1]}`"
    return f"{where or 'the file'}: {first['msg']}", "`draftgate docs cases` has the case format"


def _is_branch(part: int | str) -> bool:
    """Pydantic names the branch of a union inside a place (``list[int]``); readers need it not."""
    return isinstance(part, str) and "[" in part


def _where(place: Place, data: str | bytes) -> str:
    """``scenario 'bad': candidate.tokens[3].id`` for a place inside a case file."""
    prefix = ""
    if len(place) > 2 and place[0] == "scenarios" and isinstance(place[1], int):
        prefix, place = f"scenario {_scenario_name(data, place[1])}: ", place[2:]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return prefix + path.removeprefix(".")


def _scenario_name(data: str | bytes, index: int) -> str:
    scenario = json.loads(data)["scenarios"][index]
    name = scenario.get("name") if isinstance(scenario, dict) else None
    return repr(name) if isinstance(name, str) else str(index)


def known_fields(model: type[BaseModel], place: Place) -> list[str]:
    """The field names of the part of `model` at `place`."""
    current: Any = model
    for part in place:
        if isinstance(part, str):
            current = current.model_fields[part].annotation
        current = _inner_model(current)
    return list(current.model_fields)


def _inner_model(annotation: Any) -> Any:
    """The model inside an annotation such as ``list[CaseToken] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (list, typing.Union, types.UnionType):
        for argument in typing.get_args(annotation):
            found = _inner_model(argument)
            if found is not None:
                return found
    return None
