"""What became of every request that passed: how many were recorded, and why others were not."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from traces.counted import counted

LEFT_OUT = {
    "not_drawn": "of conversations outside --rate",
    "refused": "answered with an error status",
    "unfinished": "not answered to the end",
    "answer_error": "whose answer reports an error",
    "not_a_request": "whose body is no request with a prompt of its own",
}
"""Reasons that are no loss, in words: the recorder keeps finished turns of drawn conversations."""

LOST = {
    "too_large": "larger than what is recorded",
    "queue_full": "because the queue was full",
    "unreadable": "that could not be read or redacted",
    "disk": "because the disk refused them",
    "budget": "because --max-bytes is used up",
    "writer_lost": "because the writer ended under them",
    "not_written": "not yet written at the end",
}
"""Reasons that are losses, in words."""


@dataclass(slots=True)
class Tally:
    """`requests` of any path were passed on, `turns` of them are exchanges on a recorded route.

    Each of those ends in `recorded` or in one of the reasons. `bytes` were written to files.
    `shadow` counts what became of the copies for the second server.
    """

    requests: int = 0
    turns: int = 0
    recorded: int = 0
    sessions: int = 0
    bytes: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    shadow: Counter[str] = field(default_factory=Counter)

    @property
    def lost(self) -> int:
        """Turns that should have been recorded and were not."""
        return sum(count for reason, count in self.reasons.items() if reason in LOST)

    def as_json(self) -> dict[str, Any]:
        """The object that ``draftgate record --json`` prints at its end."""
        return {
            "requests": self.requests,
            "turns": self.turns,
            "recorded": self.recorded,
            "sessions": self.sessions,
            "bytes": self.bytes,
            "lost": self.lost,
            "reasons": dict(sorted(self.reasons.items())),
            "shadow": dict(sorted(self.shadow.items())),
        }

    def lines(self) -> list[str]:
        """The status in words: one line of totals, one for each reason."""
        found = [
            f"{counted(self.requests, 'request')} passed on, {counted(self.turns, 'turn')}: "
            f"{self.recorded:,} recorded in {counted(self.sessions, 'session')} "
            f"({self.bytes:,} bytes), {self.lost:,} lost"
        ]
        for words, kind in ((LEFT_OUT, "left out"), (LOST, "lost")):
            found += [
                f"{kind}: {counted(self.reasons[reason], 'turn')} {said}"
                for reason, said in words.items()
                if self.reasons[reason]
            ]
        if self.shadow:
            counts = ", ".join(f"{count:,} {what}" for what, count in sorted(self.shadow.items()))
            found.append(f"shadow: {counts}")
        return found
