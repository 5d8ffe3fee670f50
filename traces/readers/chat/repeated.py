"""Prompts of request logs: each repeats most of the one before, so a message is read once."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from traces.readers.chat.chat import ChatReader
from traces.readers.chat.items import Answer, Item, Replaced, Result, Said
from traces.readers.chat.shapes import items
from traces.session.blobs import BlobStore
from traces.session.message import Message

MAX_REMEMBERED = 64_000_000
"""Bytes of JSON by which messages are known again; beyond them all are forgotten."""


class Entry(msgspec.Struct, gc=False):
    """An item of a prompt and its message.

    `key` names the message without its reasoning, which clients often do not send back.
    """

    item: Said | Result | Answer
    message: Message
    key: str


def entries_of(item: Item) -> list[Entry]:
    """`item` with its message."""
    if isinstance(item, Replaced):
        return []
    message = item.message()
    plain = isinstance(item, Answer) and item.reasoning
    return [
        Entry(item, message, replace(item, reasoning="").message().mid if plain else message.mid)
    ]


@dataclass(slots=True)
class PromptReader:
    """Reads the messages of one prompt after the other.

    `left_out` counts the messages and calls of the last prompt that were none.
    """

    blobs: BlobStore
    left_out: int = 0
    _known: dict[bytes, list[Entry]] = field(default_factory=dict)
    _size: int = 0

    def read(self, messages: Any, row: int) -> list[Entry]:
        """The messages of a list; what is no message is left out."""
        chat = ChatReader(self.blobs)
        prompt: list[Entry] = []
        for message in items(messages):
            name = _name(message)
            known = self._known.get(name)
            if known is None:
                known = self._first(message, name, chat, row)
            else:
                for entry in known:
                    chat.passed(entry.item)
            prompt += known
        self.left_out = chat.left_out
        return prompt

    def _first(self, message: Any, name: bytes, chat: ChatReader, row: int) -> list[Entry]:
        before = chat.guesses, chat.left_out
        read = [entry for item in chat.message(message, (row,)) for entry in entries_of(item)]
        if name and (chat.guesses, chat.left_out) == before:
            self._size += len(name)
            if self._size > MAX_REMEMBERED:
                self._known.clear()
                self._size = len(name)
            self._known[name] = read
        return read


def _name(message: Any) -> bytes:
    try:
        return orjson.dumps(message)
    except TypeError:
        return b""
