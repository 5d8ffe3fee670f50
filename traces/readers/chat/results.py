"""Which result belongs to which call."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from traces.readers.chat.items import Answer, Item, Result


class _Slot(msgspec.Struct, gc=False):
    """A call of answer number `answer`, and its result once one is found."""

    answer: int
    result: Result | None = None


@dataclass(slots=True)
class Results:
    """Pairs the results of a transcript with its calls.

    Rows of a log need not be in causal order: a result can precede its own call, and ids can come
    again later in a session. A result goes to the latest call of its id so far that has none, else
    to the first one that follows. `late`: another answer stands between a result and its call.
    """

    slots: dict[str, list[_Slot]] = field(default_factory=dict)
    early: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))
    extra: list[Result] = field(default_factory=list)
    late: bool = False
    _taken: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, transcript: Iterable[Item]) -> "Results":
        """Pair everything in `transcript`."""
        results = cls()
        answer = -1
        for number, item in enumerate(transcript):
            if isinstance(item, Answer):
                answer = number
                for call in item.calls:
                    results._ask(call.id, number)
            elif isinstance(item, Result):
                results._place(item, answer)
        return results

    def _ask(self, call_id: str, answer: int) -> None:
        slot = _Slot(answer)
        known = self.slots.get(call_id)
        if known is None:
            self.slots[call_id] = [slot]
        else:
            known.append(slot)
        if self.early and (early := self.early.get(call_id)):
            slot.result = early.pop(0)

    def _place(self, result: Result, behind: int) -> None:
        """Give `result`, which stands behind answer number `behind`, to its call."""
        known = self.slots.get(result.call_id)
        if known is None:
            self.early[result.call_id].append(result)
            return
        latest = known[-1].answer
        for slot in known:
            if slot.answer == latest and slot.result is None:
                slot.result = result
                self.late = self.late or latest < behind
                return
        self.extra.append(result)

    def take(self, call_id: str) -> Result | None:
        """The result of the next call with that id, in the order of the transcript."""
        slots = self.slots.get(call_id)
        if slots is None:
            return None
        position = self._taken.get(call_id, 0)
        self._taken[call_id] = position + 1
        return slots[position].result if position < len(slots) else None

    def is_orphan(self, result: Result) -> bool:
        """Whether no call asked for this result."""
        return result.call_id not in self.slots
