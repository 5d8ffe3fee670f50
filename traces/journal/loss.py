"""An attempt at a turn whose connection was lost, as a journal holds it."""

from dataclasses import dataclass

from traces.wire.capture import LOST, Capture, CaptureKey


@dataclass(frozen=True, slots=True)
class Loss:
    """`ended` as the capture's, `received` whether a part of an answer had come. Times are in
    seconds since the epoch: when it was sent, and when the connection was lost."""

    key: CaptureKey
    sent_at: float
    lost_at: float
    ended: str
    received: bool

    @property
    def arm(self) -> tuple[str, str]:
        """(path, arm)."""
        return self.key.path, self.key.arm

    @property
    def turn(self) -> tuple[str, str]:
        return self.key.session, self.key.turn


def loss_of(capture: Capture) -> Loss | None:
    """The loss that a capture shows; None where its answer came to an end of its own."""
    if capture.ended not in LOST:
        return None
    last_ms = capture.events[-1][0] if capture.events else 0.0
    lost_at = capture.sent_at + max(capture.lost_ms or 0.0, last_ms) / 1000
    received = capture.status is not None
    return Loss(capture.key, capture.sent_at, lost_at, capture.ended, received)
