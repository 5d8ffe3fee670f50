"""`docs/configuration.md`, written from the configuration model itself.

Run ``python -m draftgate.config_reference`` to print it; a test compares the page with this.
"""

from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from draftgate.config import Config

HEAD = """# Configuration: `draftgate.toml`

Made by `python -m draftgate.config_reference`. An unknown key is an error that names the nearest
valid one. A path is launched from `[server]` unless it names `urls`.
"""


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
    kind = str(field.annotation).replace("typing.", "").replace("|", "or")
    kind = kind.removeprefix("<class '").removesuffix("'>")
    default = field.get_default(call_default_factory=True)
    shown = "required" if field.is_required() else f"`{default!r}`"
    return f"| `{key}` | {kind} | {shown} | {field.description or ''} |"


if __name__ == "__main__":
    print(reference())
