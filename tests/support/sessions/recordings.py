"""Small made-up recordings, one irregularity each, written as the tools write them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from traces.importing.importer import ImportedFile, import_files
from traces.session.session import Session


def lines(*rows: Any) -> bytes:
    """JSON Lines of `rows`; bytes are taken as they are."""
    return b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in rows) + b"\n"


def read(folder: Path, content: bytes, **options: Any) -> tuple[ImportedFile, list[Session]]:
    """Import one file of that content. Its name says nothing about the format."""
    path = folder / "recording"
    path.write_bytes(content)
    (file,) = import_files([path], **options)
    return file, list(file.sessions)


def claude(
    kind: str,
    uuid: str,
    parent: str | None,
    content: Any,
    *,
    message: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A row of a Claude Code log."""
    body: dict[str, Any] = {"role": kind, "content": content}
    if message:
        body |= {"id": message, "model": "m-1", "usage": {"input_tokens": 5, "output_tokens": 2}}
    row = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "message": body}
    return {**row, **more}


def use(call: str, name: str = "Bash", **arguments: Any) -> list[dict[str, Any]]:
    """Content with one tool call."""
    return [{"type": "tool_use", "id": call, "name": name, "input": arguments}]


def result(call: str, text: str = "ok") -> list[dict[str, Any]]:
    """Content with one tool result."""
    return [{"type": "tool_result", "tool_use_id": call, "content": text}]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    """A row of a Codex rollout."""
    return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}


def codex_item(kind: str, **payload: Any) -> dict[str, Any]:
    """A response item of a Codex rollout."""
    return codex("response_item", type=kind, **payload)


def codex_said(role: str, text: str) -> dict[str, Any]:
    """A message of a Codex rollout."""
    part = "output_text" if role == "assistant" else "input_text"
    return codex_item("message", role=role, content=[{"type": part, "text": text}])


def texts(messages: Iterable[dict[str, Any]]) -> list[str]:
    """Role and content of rendered messages, such as ``user: hi``."""
    return [f"{message['role']}: {message['content']}" for message in messages]
