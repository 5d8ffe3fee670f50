"""Reasoning of every chat dialect: visible, a summary, or hidden behind a signature.

{"type": "thinking", "thinking": "…", "signature": "…"}              Anthropic
{"type": "reasoning", "summary": […], "encrypted_content": "…"}      Responses
{"role": "assistant", "content": "…", "reasoning_content": "…"}      chat completions
"""

from typing import Any

from traces.readers.chat.content import Parts, content_parts, holds_more, joined
from traces.readers.chat.items import Answer
from traces.readers.chat.shapes import mappings
from traces.session.blobs import BlobStore

WRITTEN = ("thinking", "reasoning", "text", "content", "value")
"""Keys of a block that hold its reasoning."""

BESIDE = ("reasoning", "reasoning_content", "thinking")
"""Keys of a message that hold the reasoning beside its content."""

NOWHERE = BlobStore()
"""What is no text is not kept."""


def add_reasoning(answer: Answer, block: dict[str, Any]) -> bool:
    """Add a reasoning block, and note what state the reasoning is in; False if it has content that
    is not understood."""
    written = next((block[key] for key in WRITTEN if block.get(key)), None)
    visible = written if isinstance(written, str) else joined(_texts(written))
    summary = joined(_texts(block.get("summary")))
    if visible:
        answer.reasoning = f"{answer.reasoning}\n{visible}" if answer.reasoning else visible
        answer.state = "visible"
    elif summary:
        answer.reasoning = f"{answer.reasoning}\n{summary}" if answer.reasoning else summary
        answer.state = "summary"
    elif answer.state == "none" and not answer.reasoning:
        hidden = block.get("encrypted_content") or block.get("type") == "redacted_thinking"
        answer.state = (
            "encrypted" if hidden else "empty_signed" if block.get("signature") else "none"
        )
        return bool(hidden or block.get("signature")) or not holds_more(block)
    return True


def add_reasoning_beside(answer: Answer, message: dict[str, Any]) -> None:
    """Reasoning in keys of the message itself."""
    for key in BESIDE:
        if key in message and isinstance(message[key], str) and not answer.reasoning:
            answer.reasoning = message[key]
    if "thinking_blocks" in message:
        for block in mappings(message["thinking_blocks"]):
            if not answer.reasoning:
                add_reasoning(answer, block)


def _texts(value: Any) -> Parts:
    return content_parts(value, NOWHERE) if value and isinstance(value, (list, str)) else []
