"""Recorded assistant turns, written as the models of a vLLM parser write them.

A session recorded with one model family says what agents really send; written in another's format
it tests that family's parser: prose, calls in order, and reasoning where it was recorded.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checks.splits.markup import FORMATS, CallToWrite
from checks.splits.reasoning_markup import REASONING_FORMATS
from checks.splits.samples import Sample
from draftgate.parsers.input import ParserInput
from traces.errors import InputError
from traces.importing.importer import import_files
from traces.session.message import Message
from traces.session.render import chat_tool
from traces.session.session import Session


def recorded_outputs(
    file: Path, tool: str | None, reasoning: str | None
) -> tuple[list[ParserInput], Counter[str]]:
    """The assistant turns of a recorded session file, and how many could not be written, by reason.

    Raises `InputError` for a file of no known format, and for a parser whose format is not known.
    """
    unknown = [
        name
        for name, formats in ((tool, FORMATS), (reasoning, REASONING_FORMATS))
        if name is not None and name not in formats
    ]
    if unknown:
        raise InputError(
            f"{file}: turns cannot be written for {unknown[0]}, whose format is not known here",
            "give it texts, case files or journals of that model",
        )
    found: list[ParserInput] = []
    skipped: Counter[str] = Counter()
    for imported in import_files([file]):
        if imported.reason is not None:
            fix = imported.fix or "name a recorded session, a case file, a journal or a text"
            raise InputError(f"{imported.file}: {imported.reason}", fix)
        for session in imported.sessions:
            for turn, message, tools in _answers(session):
                text = _written(message, tool, reasoning)
                if text is None:
                    skipped["holds what the parser's format cannot"] += 1
                elif text:
                    name = f"{session.session_id}/{turn}"
                    found.append(ParserInput(name, text, request={"tools": tools}, must_parse=True))
    if not found:
        raise InputError(f"{file}: no recorded turn can be written", "name another session")
    return found, skipped


def _answers(session: Session) -> Iterator[tuple[str, Message, list[dict[str, Any]]]]:
    """(turn, its assistant message, the tools that were offered)."""
    for turn in session.turns:
        message = session.messages.get(turn.output or "")
        if message is not None:
            toolset = session.toolsets.get(turn.toolset or "")
            yield turn.turn_id, message, [chat_tool(t) for t in toolset.tools] if toolset else []


def _written(message: Message, tool: str | None, reasoning: str | None) -> str | None:
    """The message as its parser's model writes it; `None` where the format cannot hold it."""
    calls = tuple(
        CallToWrite(call.name, json.loads(call.arguments_json)) for call in message.tool_calls
    )
    text = message.text
    if tool is not None and calls:
        sample = Sample("recorded", calls, text)
        if not sample.fits(FORMATS[tool]):
            return None
        text = sample.text(FORMATS[tool])
    if reasoning is not None and message.reasoning:
        text = REASONING_FORMATS[reasoning](message.reasoning, text)
    return text
