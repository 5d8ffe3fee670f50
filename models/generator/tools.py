"""Tool definitions (OpenAI form) of the four agents that the sessions imitate."""

# ruff: noqa: E501  one phrasing per line reads best, however long it is

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def tool(name: str, description: str, properties: Json, required: list[str] | None = None) -> Json:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties) if required is None else required,
            },
        },
    }


STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
STRINGS: Json = {"type": "array", "items": {"type": "string"}}

EDITOR_AGENT = [
    tool("Read", "Reads a file.", {"file_path": STRING, "offset": INTEGER, "limit": INTEGER}, ["file_path"]),
    tool("Write", "Writes a file.", {"file_path": STRING, "content": STRING}),
    tool("Edit", "Replaces text in a file.", {"file_path": STRING, "old_string": STRING, "new_string": STRING}),
    tool("Bash", "Runs a command.", {"command": STRING, "description": STRING}),
    tool("Grep", "Searches file contents.", {"pattern": STRING, "path": STRING}),
    tool("LS", "Lists a folder.", {"path": STRING}),
    tool("GetTicket", "Fetches a ticket.", {"ticket_id": STRING}),
    tool("TodoWrite", "Keeps the task list.", {"todos": {"type": "array", "items": {"type": "object", "properties": {"content": STRING, "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}, "id": INTEGER}, "required": ["content", "status", "id"]}}}),
]  # fmt: skip

ISSUE_AGENT = [
    tool("bash", "Run a shell command.", {"command": STRING}),
    tool("str_replace_editor", "View, create or edit a file.", {"command": {"type": "string", "enum": ["view", "create", "str_replace"]}, "path": STRING, "file_text": STRING, "old_str": STRING, "new_str": STRING, "view_range": {"type": "array", "items": {"type": "integer"}}}, ["command", "path"]),
    tool("submit", "Submit the change.", {"summary": STRING}, []),
]  # fmt: skip

API_AGENT = [
    tool("read_file", "Return a file.", {"path": STRING}),
    tool("write_file", "Store a file.", {"path": STRING, "content": STRING}),
    tool("apply_diff", "Apply a unified diff.", {"path": STRING, "diff": STRING}),
    tool("run_shell", "Run a command.", {"command": STRING}),
    tool("search", "Find text.", {"query": STRING, "path": STRING}),
    tool("list_dir", "List a folder.", {"path": STRING}),
    tool("run_tests", "Run a test file.", {"target": STRING}),
    tool("git", "Run git.", {"args": STRINGS}),
    tool("lookup_ticket", "Return a ticket.", {"id": STRING}),
    tool("submit_report", "File a report.", {"ticket": STRING, "result": {"type": "object", "properties": {"status": {"type": "string", "enum": ["fixed", "open", "blocked"]}, "confidence": {"type": "number"}, "files": {"type": "array", "items": {"type": "object", "properties": {"path": STRING, "line": INTEGER}, "required": ["path", "line"]}}}, "required": ["status", "files"]}, "owner": STRING}, ["ticket", "result"]),
]  # fmt: skip

OPS_AGENT = [
    tool("shell", "Run a program.", {"cmd": STRINGS, "timeout": INTEGER}, ["cmd"]),
    tool("apply_patch", "Apply a patch.", {"patch": STRING}),
    tool("view", "Show a part of a file.", {"path": STRING, "range": {"type": "array", "items": {"type": "integer"}}}, ["path"]),
    tool("create", "Create a file.", {"path": STRING, "text": STRING, "executable": {"type": "boolean"}}),
    tool("fetch_record", "Fetch a record.", {"kind": {"type": "string", "enum": ["ticket", "commit"]}, "id": STRING}),
    tool("file_report", "File a report.", {"summary": STRING, "details": {"type": "object", "properties": {"ids": STRINGS, "risk": {"type": "number"}, "rollback": {"type": "boolean"}, "checks": {"type": "object"}}, "required": ["ids", "risk", "rollback"]}}),
]  # fmt: skip


def observed(calls: list[tuple[str, Json]]) -> list[Json]:
    """Schemas as an importer makes them up from the calls alone: names and argument keys.

    {"type": "object", "properties": {"file_path": {}}, "additionalProperties": true}
    """
    keys: dict[str, dict[str, Json]] = {}
    for name, arguments in calls:
        keys.setdefault(name, {}).update({key: {} for key in arguments})
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": True,
                },
            },
        }
        for name, properties in keys.items()
    ]
