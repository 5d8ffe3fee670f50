"""The files whose text a request's history holds: read, or written whole, and not changed since."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from checks.calls.patches import normal_path, unnumbered
from traces.boundaries.arguments.content import CONTENT_KEYS, DIFF_KEYS, PATH_KEYS, SOURCE_KEYS


def recorded_files(request: Mapping[str, Any]) -> dict[str, str]:
    """Text by normalized path; the last known state of each file."""
    found: dict[str, str] = {}
    results = {
        message.get("tool_call_id"): message.get("content")
        for message in request.get("messages") or ()
        if isinstance(message, Mapping) and message.get("role") == "tool"
    }
    for identifier, arguments in _calls(request):
        keys = {key.lower(): value for key, value in arguments.items() if isinstance(value, str)}
        named = [normal_path(keys[key]) for key in keys if key in PATH_KEYS]
        if len(named) != 1:
            continue
        path = named[0]
        whole = [keys[k] for k in keys if k in CONTENT_KEYS - {"search", "replace"}]
        if len(whole) == 1 and not keys.keys() & (SOURCE_KEYS | DIFF_KEYS):
            found[path] = whole[0]
        elif keys.keys() & (SOURCE_KEYS | DIFF_KEYS | CONTENT_KEYS):
            found.pop(path, None)
        elif isinstance(text := results.get(identifier), str):
            found[path] = unnumbered(text)
    return found


def _calls(request: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """(id, arguments) of every call in the history, in order."""
    for message in request.get("messages") or ():
        calls = message.get("tool_calls") if isinstance(message, Mapping) else None
        for call in calls or ():
            function = call.get("function") if isinstance(call, Mapping) else None
            text = function.get("arguments") if isinstance(function, Mapping) else None
            try:
                arguments = json.loads(text) if isinstance(text, str) else text
            except ValueError:
                continue
            if isinstance(arguments, Mapping):
                yield call.get("id"), arguments
