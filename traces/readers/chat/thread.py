"""The prompt of one thread of a session while it grows from turn to turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from traces.session.message import Message


@dataclass(slots=True)
class Thread:
    """`mids` name the messages of the prompt as it stands.

    `kept` of them, from the start, are also the start of (prompt + output) of the thread's last
    turn, `last`, which were `size` messages. So a turn is stored as its difference without
    comparing whole prompts, however long they grow. The first `unspoken` messages are no user's.
    """

    name: str
    mids: list[str] = field(default_factory=list)
    kept: int = 0
    last: str | None = None
    size: int = 0
    unspoken: int = 0
    _before: list[str] | None = None

    def replace(self, mids: Sequence[str]) -> None:
        """The prompt is another one, which may begin like the one before."""
        if self._before is None:
            self._before = self.mids[: self.size]
        self.mids = list(mids)
        self.kept = _common(self._before, self.mids)
        self.unspoken = 0

    def go_on(self, mids: Sequence[str], start: int, same: int) -> None:
        """The prompt is `mids` from `start` on. Its first `same` messages are those it had."""
        size = len(mids) - start
        while same < min(size, len(self.mids)) and self.mids[same] == mids[start + same]:
            same += 1
        if same < self.size or self._before is not None:
            self.replace(mids[start:])
        else:
            del self.mids[same:]
            self.mids.extend(mids[start + same :])

    def has_user(self, messages: Mapping[str, Message]) -> bool:
        """Whether a user speaks in the prompt."""
        while self.unspoken < len(self.mids):
            if messages[self.mids[self.unspoken]].role == "user":
                return True
            self.unspoken += 1
        return False

    def holds_answer(self, output: Message, messages: Mapping[str, Message]) -> bool:
        """Whether `output`, or a result of its calls, is in what the prompt added last.

        Then its source is not what was sent. Models do repeat themselves: the response before this
        one, which is the thread's last turn, may read the same.
        """
        seen: set[str | None] = set()
        for mid in reversed(self.mids[self.kept :]):
            message = messages[mid]
            role = message.role
            if role == "tool":
                seen.add(message.tool_call_id)
            elif role == "assistant":
                if _says_the_same(message, output):
                    return True
                break
        if not seen:
            return False
        for call in output.tool_calls:
            if call.id in seen:
                break
        else:
            return False
        results = {call.id for call in output.tool_calls if call.id in seen}
        before = (messages[mid] for mid in reversed(self.mids))
        last = next((message for message in before if message.role == "assistant"), None)
        return last is None or not results <= {call.id for call in last.tool_calls}

    def answered(self, turn: str, output: Message | None) -> None:
        """A turn answered the prompt; its output is now part of it."""
        if output is not None:
            self.mids.append(output.mid)
        self.last, self.kept, self.size = turn, len(self.mids), len(self.mids)
        self._before = None


def _common(before: list[str], now: list[str]) -> int:
    """How many leading entries are equal."""
    if now[: len(before)] == before:
        return len(before)
    pairs = zip(before, now, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(now)))


def _says_the_same(message: Message, output: Message) -> bool:
    if not (output.content or output.tool_calls):
        return False
    return message.text.strip() == output.text.strip() and [
        (call.id, call.name, call.arguments_json) for call in message.tool_calls
    ] == [(call.id, call.name, call.arguments_json) for call in output.tool_calls]
