"""How long turns are, in tokens of a target's tokenizer, or estimated without one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from traces.session.message import Message
from traces.session.render import placeholder
from traces.session.session import Session
from traces.session.turn import Turn

CHARACTERS_PER_TOKEN = 3.6
"""Usual for code and English with vocabularies of 100k and more; only for estimates."""

TokenCounter = Callable[[str], int]


def estimated_tokens(text: str) -> int:
    """Tokens of a text without a tokenizer."""
    return round(len(text) / CHARACTERS_PER_TOKEN)


@dataclass(slots=True)
class TurnSizer:
    """Counts each message once. Template markup is not counted: a few tokens per message."""

    count: TokenCounter = estimated_tokens
    _messages: dict[str, int] = field(default_factory=dict)

    def sizes(self, session: Session) -> Iterator[tuple[Turn, int, int]]:
        """Every turn with the tokens of its prompt (tools included) and of its recorded output.

        Most turns keep all of (prompt + output) of the turn they follow, so the size is the same.
        """
        self._messages.clear()
        tools = {
            name: self.count(msgspec.json.encode(toolset).decode()) if toolset.tools else 0
            for name, toolset in session.toolsets.items()
        }
        whole: dict[str, tuple[int, int]] = {}
        for turn in session.turns:
            output = session.output(turn)
            size = 0 if output is None else self._size(output)
            messages, prompt = whole.get(turn.base or "", (0, 0))
            if turn.keep == messages:
                prompt += sum(self._size(session.messages[mid]) for mid in turn.added)
                messages += len(turn.added)
            else:
                mids = session.prefix_ids(turn)
                prompt = sum(self._size(session.messages[mid]) for mid in mids)
                messages = len(mids)
            whole[turn.turn_id] = messages + (output is not None), prompt + size
            yield turn, prompt + tools.get(turn.toolset or "", 0), size

    @property
    def total(self) -> int:
        """Tokens of all messages of the last session, each counted once."""
        return sum(self._messages.values())

    def _size(self, message: Message) -> int:
        known = self._messages.get(message.mid)
        if known is None:
            known = self.count(message_text(message))
            self._messages[message.mid] = known
        return known


def message_text(message: Message) -> str:
    """All text of a message as one string: reasoning, content, calls."""
    parts = [message.reasoning or ""]
    parts += [part.text if part.type == "text" else placeholder(part) for part in message.content]
    parts += [f"{call.name} {call.arguments_json}" for call in message.tool_calls]
    return "\n".join(part for part in parts if part)


def tokenizer_counter(path: str) -> TokenCounter:
    """A counter that uses ``tokenizer.json`` of a model folder, or such a file itself.

    Raises ImportError without the `tokenizers` package, and whatever it raises for a bad file.
    """
    from tokenizers import Tokenizer

    file = Path(path)
    tokenizer = Tokenizer.from_file(str(file / "tokenizer.json" if file.is_dir() else file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
