"""JSON Schema of a line of a session file.

python -m traces.session.schema > docs/formats/session.schema.json
"""

from typing import Any

import msgspec
import orjson

from traces.session.file import Line


def json_schema() -> dict[str, Any]:
    """What every line fits: a header, a message, or a turn."""
    schema: dict[str, Any] = orjson.loads(orjson.dumps(msgspec.json.schema(Line)))
    return schema


if __name__ == "__main__":
    print(orjson.dumps(json_schema(), option=orjson.OPT_INDENT_2).decode())
