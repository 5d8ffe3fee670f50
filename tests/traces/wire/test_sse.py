"""Event streams cut anywhere, with any line end, read as the standard says."""

import itertools

from hypothesis import example, given
from hypothesis import strategies as st

from traces.wire.sse import SseParser, events_of

TEXT = 'data: {"a": "é✅\u2028 👨‍💻"}'


def reads(raw: bytes, cuts: list[int]) -> list[tuple[float, bytes]]:
    """`raw` as network reads cut at `cuts`, one a millisecond apart."""
    edges = [0, *sorted({c % (len(raw) + 1) for c in cuts}), len(raw)]
    return [(float(i), raw[a:b]) for i, (a, b) in enumerate(itertools.pairwise(edges))]


def data(raw: bytes, cuts: list[int] | None = None) -> list[str]:
    return [event.data for event in events_of(reads(raw, cuts or []))]


@given(
    st.lists(st.integers(min_value=0, max_value=10_000), max_size=30),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_cuts_and_line_ends_change_nothing(cuts: list[int], end: str) -> None:
    lines = [": hello", TEXT, "", "data: [DONE]", "", ""]
    raw = end.join(lines).encode()
    assert data(raw, cuts) == [TEXT.removeprefix("data: "), "[DONE]"]


line = st.sampled_from(
    ["data: a", "data: {}", "data:b", "data", "event: x", ": hello", "", "", "\ufeffdata: c", "\r"]
)


@given(st.lists(st.lists(line, max_size=6), max_size=5))
@example([[], ["\ufeffdata: c", ""]])
def test_text_reads_and_byte_reads_are_the_same(given_reads: list[list[str]]) -> None:
    """Journals keep reads as text; those of whole events are taken without a second look."""
    texts = [(float(i), "".join(f"{x}\n" for x in lines)) for i, lines in enumerate(given_reads)]
    as_text, as_bytes = SseParser(), SseParser()
    assert list(events_of(texts, as_text)) == list(
        events_of([(at, text.encode()) for at, text in texts], as_bytes)
    )
    assert (as_text.comments, as_text.left_over) == (as_bytes.comments, as_bytes.left_over)


def test_one_read_may_hold_several_events() -> None:
    assert data(b"data: a\n\ndata: b\n\ndata: c\n\n") == ["a", "b", "c"]


def test_the_time_of_an_event_is_that_of_the_read_that_ends_it() -> None:
    events = list(events_of([(1.0, b"data: a\n"), (2.0, b"\nda"), (3.0, b"ta: b\n\n")]))
    assert [(e.at_ms, e.data) for e in events] == [(2.0, "a"), (3.0, "b")]


def test_the_second_half_of_a_crlf_is_no_empty_line() -> None:
    assert data(b"data: a\r\ndata: b\r\n\r\n", [8]) == ["a\nb"]


def test_several_data_lines_are_one_event_and_other_fields_are_none() -> None:
    assert data(b"event: x\nid: 7\nretry: 10\ndata: a\ndata: b\n\nnonsense\n\n") == ["a\nb"]
    assert data(b"data\n\n") == [""]
    assert data(b"data:a\n\ndata:  b\n\n") == ["a", " b"]


def test_comments_are_kept_beside_the_events() -> None:
    parser = SseParser()
    list(events_of([(0.0, b": keep-alive\n\ndata: a\n\n:x\n")], parser))
    assert parser.comments == [": keep-alive", ":x"]


def test_a_byte_order_mark_is_skipped_even_when_split() -> None:
    assert data(b"\xef\xbb\xbfdata: a\n\n", [1, 2]) == ["a"]


def test_a_stream_that_stops_inside_an_event() -> None:
    for raw, left in ((b"data: a\n\ndata: b", "data: b"), (b"data: a\n\ndata: b\n", "data: b")):
        parser = SseParser()
        assert [e.data for e in events_of([(0.0, raw)], parser)] == ["a"]
        assert parser.left_over == left
    parser = SseParser()
    list(events_of([(0.0, b"data: a\n\n")], parser))
    assert parser.left_over == ""


def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    parser = SseParser()
    assert [e.data for e in events_of([(0.0, b"data: \xff\n\n")], parser)] == ["\ufffd"]
    assert parser.undecodable == 1
