"""`docs/configuration.md`, written from the configuration model itself.

Run ``python -m draftgate.config.reference`` to print it; a test compares the page with this.
"""

import json
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from draftgate.config.config import Config

HEAD = """# Configuration: `draftgate.toml`

Made by `python -m draftgate.config.reference`. An unknown key is an error that names the nearest
valid one. A dash means that a key has no default and may be absent. A path is launched from
`[server]` unless it names `urls`.
"""

KINDS = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    Any: "any value",
}


def reference() -> str:
    """The page: one table per section, one row per key (name, type, default, meaning)."""
    parts = [HEAD]
    for name, info in Config.model_fields.items():
        model, repeated = _section(info)
        title = f"[[{name}]]" if repeated else f"[{name}]"
        summary = (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
        parts.append(
            f"## `{title}`\n\n{summary}\n\n| key | type | default | meaning |\n|---|---|---|---|"
        )
        parts += [_row(key, field) for key, field in model.model_fields.items()]
        parts.append("")
    return "\n".join(parts)


def _section(info: FieldInfo) -> tuple[type[BaseModel], bool]:
    """The model of a section, and whether the file may hold several of it."""
    kinds = [kind for kind in get_args(info.annotation) if kind is not ...]
    (model,) = kinds or [info.annotation]
    assert isinstance(model, type)
    assert issubclass(model, BaseModel)
    return model, bool(kinds)


def _row(key: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    shown = "required" if field.is_required() else _value(default)
    return f"| `{key}` | {_kind(field.annotation)} | {shown} | {field.description or ''} |"


def _kind(annotation: Any) -> str:
    """A type as someone who writes TOML calls it: ``list of text``, ``auto, on or off``."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inner[0])
    if origin is Literal:
        names = [f"`{name}`" for name in inner]
        return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    if origin in (Union, UnionType):
        return " or ".join(_kind(kind) for kind in inner if kind is not NoneType)
    if origin is tuple:
        return f"list of {_kind(inner[0])}"
    if origin is dict:
        return f"table of {_kind(inner[1])}"
    return KINDS[annotation]


def _value(default: Any) -> str:
    """A default as TOML writes it; a dash where the key is absent."""
    if default is None:
        return "–"
    return f"`{json.dumps(default, ensure_ascii=False)}`"


if __name__ == "__main__":
    print(reference())
