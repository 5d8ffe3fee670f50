"""One capture of a turn."""

from traces.wire.capture import Capture, CaptureKey


def capture(turn: str = "t1", text: str | bytes = 'data: {"x": 1}\n\n') -> Capture:
    return Capture(
        key=CaptureKey("r1", "candidate", "main", "s1", turn),
        request={"messages": [{"role": "user", "content": "häß\n"}], "temperature": 0.0},
        status=200,
        sent_at=1764429485.25,
        events=((1.5, text), (2.25, b"\xe2\x82")),
        ended="done",
        headers={"content-type": "text/event-stream"},
    )
