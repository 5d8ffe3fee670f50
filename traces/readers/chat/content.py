"""Content blocks of every chat dialect as parts: text, attachments kept aside, notes."""

from typing import Any

from traces.readers.chat.shapes import items, mapping, text
from traces.readers.files.json_text import dump
from traces.session.blobs import BlobStore
from traces.session.message import TOOL_REFERENCE, Blob, Note, Text

Parts = list[Text | Blob | Note]

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})
IMAGE_TYPES = frozenset({"image", "image_url", "input_image", "document", "input_file", "file"})

MARKERS = frozenset({"fallback"})
"""Blocks that say something of a response, such as which model stood in, and are no part of it."""

TEXT_KEYS = ("text", "refusal", "content", "value")
"""Where a block has its text, as a string or as ``{"value": …}``."""

NAMING_KEYS = frozenset(
    {
        "type", "id", "index", "name", "role", "status", "phase", "cache_control", "signature",
        "annotations", "logprobs", "citations", "call_id", "tool_call_id", "tool_use_id",
        "is_error", "encrypted_content", "thoughtSignature", "ts", "timestamp", *TEXT_KEYS,
    }
)  # fmt: skip
"""Keys of a block that hold no content of it, or are known to be read."""

MAX_NESTED = 20
"""Lists in lists deeper than this are kept as JSON text."""


def content_parts(content: Any, blobs: BlobStore, nested: int = 0) -> Parts:
    """A string, one block, or a list of strings and blocks.

    Understood are blocks of chat completions (``text``, ``image_url``), Responses (``input_text``,
    ``output_text``, ``input_image``), Assistants (``{"text": {"value"}}``), Anthropic (``text``,
    ``image`` with a base64 or URL source, ``document``), Gemini (``{"text"}``, ``inlineData``) and
    MCP (``image`` with ``data``). What is none of them becomes a note that names its type, and the
    prompts with it are ``lossy``.
    """
    if isinstance(content, str):
        return [blobs.text(content)] if content else []
    if isinstance(content, dict):
        return _block_parts(content, blobs, nested)
    if isinstance(content, list) and nested < MAX_NESTED:
        parts: Parts = []
        for block in content:
            if isinstance(block, dict):
                parts += _block_parts(block, blobs, nested + 1)
            else:
                parts += content_parts(block, blobs, nested + 1)
        return parts
    return [] if content is None else [blobs.text(dump(content))]


def _block_parts(block: dict[str, Any], blobs: BlobStore, nested: int) -> Parts:
    kind = text(block.get("type"))
    if kind in TEXT_TYPES and isinstance(written := block.get("text"), str):
        return [blobs.text(written)] if written else []
    if kind in TEXT_TYPES or (not kind and isinstance(block.get("text"), str)):
        return _text_parts(block, kind, blobs)
    if kind in IMAGE_TYPES or "inlineData" in block or "inline_data" in block:
        return [attachment(block, blobs)]
    if kind == "tool_reference":
        return [Note(text=f"{TOOL_REFERENCE}{text(block.get('tool_name'))}")]
    written = next((block[key] for key in TEXT_KEYS if block.get(key) is not None), None)
    if kind in ("tool_result", "resource") and written is not None:
        return content_parts(written, blobs, nested + 1)
    if not kind:
        return [blobs.text(dump(block))]
    return [] if kind in MARKERS else [Note(text=kind)]


def _text_parts(block: dict[str, Any], kind: str, blobs: BlobStore) -> Parts:
    """The text of a block, or a note where it has some that is not understood."""
    for key in TEXT_KEYS:
        written = block.get(key)
        if isinstance(written, dict) and isinstance(written.get("value"), str):
            written = written["value"]
        if isinstance(written, str):
            return [blobs.text(written)] if written else []
    return [Note(text=kind or "text")] if holds_more(block) else []


def holds_more(block: dict[str, Any]) -> bool:
    """Whether a block has content beside what names it."""
    return any(value for key, value in block.items() if key not in NAMING_KEYS)


def as_typed(block: Any) -> Any:
    """A block of Amazon Bedrock's Converse API, which names its kind by a key, in the form of
    Anthropic's Messages; any other as it is.

    {"toolUse": {"toolUseId": "…", "name": "…", "input": {…}}}
    {"toolResult": {"toolUseId": "…", "content": [{"text": "…"}], "status": "success"}}
    {"reasoningContent": {"reasoningText": {"text": "…", "signature": "…"}}}
    """
    if not isinstance(block, dict) or len(block) != 1 or "text" in block:
        return block
    ((kind, value),) = block.items()
    given = mapping(value)
    if kind == "toolUse":
        return {"type": "tool_use", "id": given.get("toolUseId"), **given}
    if kind == "toolResult":
        shown = [_shown(part) for part in items(given.get("content"))]
        failed = {"is_error": given["status"] == "error"} if "status" in given else {}
        named = {"type": "tool_result", "tool_use_id": given.get("toolUseId")}
        return {**named, "content": shown, **failed}
    if kind == "reasoningContent":
        thought = mapping(given.get("reasoningText"))
        hidden = {"encrypted_content": "hidden"} if "redactedContent" in given else {}
        return {"type": "thinking", "thinking": thought.get("text"), **hidden}
    if kind == "image" and "source" in given:
        source = {"type": "base64", "data": mapping(given["source"]).get("bytes")}
        return {"type": "image", "source": {**source, "media_type": f"image/{given.get('format')}"}}
    if kind in ("cachePoint", "guardContent"):
        return {"type": "fallback"}
    return block


def _shown(part: Any) -> Any:
    value = mapping(part).get("json")
    return dump(value) if value is not None else as_typed(part)


def attachment(block: dict[str, Any], blobs: BlobStore) -> Blob | Note:
    """An image or file block; a URL or id that points elsewhere is kept as a note's kind only."""
    source = mapping(block.get("source")) or mapping(
        block.get("inlineData", block.get("inline_data"))
    )
    url = block.get("image_url", block.get("file_data", block.get("url")))
    url = text(mapping(url).get("url")) if isinstance(url, dict) else text(url)
    kind = text(block.get("type")) or "attachment"
    default = "image/png" if "image" in kind else "application/octet-stream"
    mime = text(source.get("media_type") or source.get("mimeType") or block.get("mimeType"))
    encoded = text(source.get("data")) or text(block.get("data"))
    if encoded and text(source.get("type")) == "text":
        return Blob(mime="text/plain", blob=blobs.put(encoded.encode()), size=len(encoded))
    if encoded:
        return blobs.base64(mime or default, encoded)
    if url.startswith("data:"):
        declared, _, encoded = url.removeprefix("data:").partition(",")
        return blobs.base64(declared.split(";")[0] or default, encoded)
    return Blob(mime=mime or default)


def joined(parts: Parts) -> str:
    """The text among `parts`."""
    return "\n".join(part.text for part in parts if isinstance(part, Text))
