"""Every limit on what a server sends is kept in time and named."""

import time

import pytest

from checks.acceptance.steps import Unaligned, step_facts
from replay.scoring.score_answer import EntryScanner
from replay.sending.client import Size
from traces.limits import DIGITS, EVENT_BYTES, NESTING, TURN_BYTES, TURN_CALLS, PastLimit
from traces.served_json import decode_served
from traces.wire.capture import Capture, CaptureKey
from traces.wire.reassembly import response_of, response_of_chunks
from traces.wire.sse import SseParser

KEY = CaptureKey("r", "candidate", "main", "s", "t")
READ = 1 << 16


def capture(*reads: str, status: int = 200) -> Capture:
    return Capture(KEY, {}, status, 0.0, tuple((1.0, read) for read in reads), "done")


def feed(parser: SseParser, read: bytes, times: int) -> None:
    for _ in range(times):
        list(parser.feed(0.0, read))


def count(size: Size, read: bytes, limit: int) -> None:
    for _ in range(limit // len(read) + 1):
        size.add(read)


def scan(scanner: EntryScanner, read: bytes, times: int) -> None:
    for _ in range(times):
        scanner.feed(read)


def lists(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("text", [lists(NESTING), '"%s"' % ("[" * 1000), "1" + "0" * 4000])
def test_what_is_within_the_limits_is_read(text: str) -> None:
    decode_served(text)
    decode_served(text.encode())


@pytest.mark.parametrize(
    "text", [lists(NESTING + 1), lists(100_000), '{"a":' * 5000, "9" * (DIGITS + 1), "[" * 300]
)
def test_what_is_past_a_limit_is_refused(text: str) -> None:
    for data in (text, text.encode()):
        with pytest.raises(PastLimit):
            decode_served(data)


def test_a_lone_surrogate_is_written_out() -> None:
    assert decode_served(r'{"\ud800": ["\udfff", "\ud83d\ude00"]}') == {
        r"\ud800": [r"\udfff", "\U0001f600"]
    }


def test_a_line_without_an_end_is_broken_off_in_linear_time() -> None:
    """Read by read: each was once looked through again with every later one."""
    parser, read = SseParser(), b"a" * 1024
    list(parser.feed(0.0, b"data: "))
    begin = time.process_time()
    with pytest.raises(PastLimit):
        feed(parser, read, EVENT_BYTES // len(read) + 2)
    assert time.process_time() - begin < 5.0


def test_an_event_of_many_lines_is_one_event() -> None:
    parser = SseParser()
    with pytest.raises(PastLimit):
        feed(parser, b"data: " + b"a" * READ + b"\n", EVENT_BYTES // READ + 1)


def test_the_client_breaks_off_what_is_too_long() -> None:
    event, turn = Size(), Size()
    with pytest.raises(PastLimit, match="event of more than 16 MiB"):
        count(event, b"a" * READ, EVENT_BYTES)
    with pytest.raises(PastLimit, match="answer of more than 128 MiB"):
        count(turn, b"\n" * READ, TURN_BYTES)


def test_a_response_names_the_event_that_passes_a_limit() -> None:
    good = 'data: {"choices": []}\n\n'
    for bad, words in [
        (f'{{"error": {lists(NESTING + 5)}}}', "event 1 is nested more than 200 deep"),
        (
            '{"choices": [{"index": %s}]}' % ("9" * 5000),
            "event 1 is one with an integer of more than 4300",
        ),
    ]:
        response = response_of(capture(good, f"data: {bad}\n\n", "data: [DONE]\n\n"))
        assert response.done
        assert response.broken_event is not None
        assert response.broken_event.startswith(words)
    response = response_of(capture(good, "data: " + "a" * (EVENT_BYTES + 1)))
    assert not response.done
    assert response.broken_event == "event 1 is longer than 16 MiB"


def test_broken_events_are_counted_and_the_first_shown() -> None:
    response = response_of(capture("data: 1\n\n" * 5000))
    assert len(response.malformed) == 21
    assert response.malformed[-1] == "4980 further events are broken"


def test_calls_are_limited() -> None:
    calls = [{"index": i, "id": "c"} for i in range(TURN_CALLS + 1)]
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}
    response = response_of_chunks([chunk], done=True)
    assert response.broken_event == "event 0 is in an answer of more than 256 tool calls"


def test_a_long_error_is_shown_shortened() -> None:
    response = response_of(capture("x" * 1_000_000, status=500))
    assert response.error == {"error": {"message": "x" * 2000 + "… (1,000,000 bytes)"}}


@pytest.mark.parametrize(
    ("accepted", "drafted", "completion"),
    [([2**31 - 1], [2**31 - 1], 3), ([0], [2**31 - 1], 3), ([1] * 10**6, [3] * 10**6, 3)],
)
def test_steps_beyond_the_completion_are_not_laid_out(
    accepted: list[int], drafted: list[int], completion: int
) -> None:
    said = {"per_step_accepted": accepted, "per_step_drafted": drafted}
    usage = {"prompt_tokens": 1, "completion_tokens": completion}
    last = {"choices": [], "usage": usage, "metrics": {"speculative_decoding": said}}
    facts = step_facts(response_of_chunks([last], done=True))
    assert isinstance(facts, Unaligned)
    assert facts.reason == "counts"


@pytest.mark.parametrize("unit", [b'{"1":{"\\"', b'{"1":{"a":"', b'{"1":{},', b"{", b'"', b" "])
def test_a_scoring_answer_without_scores_is_broken_off(unit: bytes) -> None:
    scanner, begin = EntryScanner(keep=4), time.process_time()
    with pytest.raises(PastLimit):
        scan(scanner, unit * (READ // len(unit)), 64)
    assert time.process_time() - begin < 5.0
