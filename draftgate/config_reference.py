"""`docs/configuration.md`, written from the configuration model itself.

Run ``python -m draftgate.config_reference`` to print it; a test compares the page with this.
"""

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
        model = info.annotation
        assert isinstance(model, type)
        assert issubclass(model, BaseModel)
        summary = (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
        parts.append(
            f"## `[{name}]`\n\n{summary}\n\n| key | type | default | meaning |\n|---|---|---|---|"
        )
        parts += [_row(key, field) for key, field in model.model_fields.items()]
        parts.append("")
    return "\n".join(parts)


def _row(key: str, field: FieldInfo) -> str:
    kind = str(field.annotation).replace("typing.", "").replace("|", "or")
    kind = kind.removeprefix("<class '").removesuffix("'>")
    default = field.get_default(call_default_factory=True)
    return f"| `{key}` | {kind} | `{default!r}` | {field.description or ''} |"


if __name__ == "__main__":
    print(reference())
