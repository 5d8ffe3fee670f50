"""The journal keeps every whole capture, whatever happens to its writer."""

import dataclasses
import errno
import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.capture import capture
from traces.errors import InputError, OutputError
from traces.journal.capture_record import decode_record, encode_record
from traces.journal.journal import JournalReader, JournalWriter, journal_path
from traces.wire.capture import Capture, CaptureKey

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
reads = st.tuples(st.floats(0, 1e7), st.binary(max_size=40).map(lambda b: b"\xff" + b) | st.text())


def in_order(events: list[tuple[float, object]]) -> tuple[tuple[float, object], ...]:
    times = sorted(at for at, _ in events)
    return tuple((at, read) for at, (_, read) in zip(times, events, strict=True))


captures = st.builds(
    Capture,
    key=st.builds(
        CaptureKey, st.text(), st.text(), st.text(), st.text(), st.text(), st.integers(0, 9)
    ),
    request=st.dictionaries(st.text(), json_values, max_size=4),
    status=st.none() | st.integers(100, 599),
    sent_at=st.floats(0, 4e9),
    events=st.lists(reads, max_size=5).map(in_order),
    ended=st.sampled_from(["done", "closed", "error", "timeout"]),
    headers=st.dictionaries(st.text(), st.text(), max_size=2),
    error=st.none() | st.text(),
)


@given(captures)
def test_a_record_reads_back_as_the_same_capture(original: Capture) -> None:
    line = encode_record(original)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode_record(line) == original


def test_a_lone_surrogate_of_a_recorded_session_survives(tmp_path: Path) -> None:
    original = Capture(
        CaptureKey("r", "p", "a", "s", "t"), {"c": "\ud800"}, None, 0.0, (), "error", error="x"
    )
    file = tmp_path / "j.jsonl.zst"
    with JournalWriter(file) as writer:
        writer.add(original)
    assert list(JournalReader(file)) == [original]


def test_captures_come_back_in_order_and_as_plain_zstd_json_lines(tmp_path: Path) -> None:
    file = journal_path(tmp_path / "new", "candidate", "main")
    with JournalWriter(file) as writer:
        writer.add(capture("t1"))
        writer.add(capture("t2"))
    reader = JournalReader(file)
    assert [c.key.turn for c in reader] == ["t1", "t2"]
    assert reader.torn_bytes == 0
    with file.open("rb") as raw:
        plain = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
    assert [json.loads(line)["turn"] for line in plain.splitlines()] == ["t1", "t2"]


@pytest.mark.parametrize("name", ["run", "path", "session", "turn", "attempt", "request"])
def test_a_record_without_a_needed_field_is_named_with_file_and_byte(
    tmp_path: Path, name: str
) -> None:
    line = encode_record(capture()).replace(f'"{name}":'.encode(), b'"other":', 1)
    file = tmp_path / "j.jsonl.zst"
    file.write_bytes(zstandard.compress(line))
    with pytest.raises(InputError, match=r"j\.jsonl\.zst, byte 0: not a capture record"):
        list(JournalReader(file))


WRONG = [
    ("run", 5),
    ("path", None),
    ("arm", 1),
    ("session", 5),
    ("turn", ["t"]),
    ("attempt", "0"),
    ("attempt", -1),
    ("attempt", True),
    ("request", None),
    ("request", "x"),
    ("request", [1]),
    ("request", {"tools": 5}),
    ("request", {"messages": None, "tools": ["x"]}),
    ("request", {"temperature": "warm"}),
    ("request", {"max_tokens": "many"}),
    ("request", {"stream_options": [1]}),
    ("request", {"response_format": "json"}),
    ("request", {"stop": 5}),
    ("status", "200"),
    ("sent_at", "now"),
    ("sent_at", float("nan")),
    ("events", None),
    ("events", [[1.0]]),
    ("events", [[1.0, 5]]),
    ("events", [[1.0, "x", "y"]]),
    ("events", [["a", "x"]]),
    ("events", [[-1.0, "x"]]),
    ("events", [[float("nan"), "x"]]),
    ("events", [[2.0, "x"], [1.0, "y"]]),
    ("events", [[1.0, {"b64": "###"}]]),
    ("headers", [1]),
    ("error", 5),
    ("ended", 5),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_field_of_another_type_is_named_with_file_and_byte(
    tmp_path: Path, name: str, value: object
) -> None:
    file = tmp_path / "j.jsonl.zst"
    good = encode_record(capture())
    bad = json.dumps(json.loads(good) | {name: value}).encode() + b"\n"
    frames = [zstandard.compress(line) for line in (good, bad)]
    file.write_bytes(b"".join(frames))
    where = f"{re.escape(str(file))}, byte {len(frames[0])}: not a capture record"
    with pytest.raises(InputError, match=where):
        list(JournalReader(file))


@pytest.mark.parametrize("line", [b"[1]", b"5", b"null", b"{oops", b"[" * 100_000, b"\xff"])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "j.jsonl.zst"
    file.write_bytes(zstandard.compress(line))
    with pytest.raises(InputError, match="byte 0: not a capture record"):
        list(JournalReader(file))


def test_numbers_that_a_server_takes_as_text_are_taken(tmp_path: Path) -> None:
    odd = {"temperature": "0", "max_tokens": "16", "messages": [], "tools": None}
    assert decode_record(encode_record(dataclasses.replace(capture(), request=odd))).request == odd


@pytest.mark.parametrize("tail", [b"garbage" * 100, b"{}", b"\x00garbage", b"\x28\xb5x"])
def test_what_no_writer_can_have_left_is_said_and_kept(tmp_path: Path, tail: bytes) -> None:
    """A text file named by mistake, say: neither read as empty nor cut off."""
    file = tmp_path / "j.jsonl.zst"
    for before in (b"", zstandard.compress(encode_record(capture()))):
        file.write_bytes(before + tail)
        where = f"byte {len(before)}: this is no zstd frame"
        with pytest.raises(InputError, match=where):
            list(JournalReader(file))
        with pytest.raises(InputError, match=where):
            JournalWriter(file)
        assert file.read_bytes() == before + tail


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(min_value=1))
def test_a_tail_torn_anywhere_costs_one_record_and_is_cut_before_appending(
    tmp_path: Path, cut: int
) -> None:
    file = tmp_path / "j.jsonl.zst"
    file.unlink(missing_ok=True)
    with JournalWriter(file) as writer:
        writer.add(capture("t1"))
        first = file.stat().st_size
        writer.add(capture("t2"))
    whole = file.stat().st_size
    end = first + cut % (whole - first)
    os.truncate(file, end)
    reader = JournalReader(file)
    assert [c.key.turn for c in reader] == ["t1"]
    assert reader.torn_bytes == end - first
    with JournalWriter(file) as writer:
        assert writer.torn_bytes == end - first
        writer.add(capture("t3"))
    assert [c.key.turn for c in JournalReader(file)] == ["t1", "t3"]


def test_a_tail_of_zeros_left_by_a_power_cut_is_torn_too(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl.zst"
    with JournalWriter(file) as writer:
        writer.add(capture())
    with file.open("ab") as handle:
        handle.write(bytes(500))
    reader = JournalReader(file)
    assert len(list(reader)) == 1
    assert reader.torn_bytes == 500


def test_damage_before_the_tail_is_an_error_and_nothing_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl.zst"
    with JournalWriter(file) as writer:
        writer.add(capture("t1"))
        writer.add(capture("t2"))
    data = bytearray(file.read_bytes())
    data[40] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(InputError, match="byte 0: the zstd frame is damaged"):
        list(JournalReader(file))
    with pytest.raises(InputError, match="damaged"):
        JournalWriter(file)
    assert file.read_bytes() == data


def test_a_second_writer_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl.zst"
    with JournalWriter(file), pytest.raises(InputError, match="another process is writing"):
        JournalWriter(file)
    JournalWriter(file).close()


def test_a_missing_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.zst: no such file"):
        list(JournalReader(tmp_path / "none.zst"))


ENDLESS_WRITER = """
import sys
from pathlib import Path
from tests.support.capture import capture
from traces.journal.journal import JournalWriter
with JournalWriter(Path(sys.argv[1])) as writer:
    number = 0
    while True:
        writer.add(capture(str(number), "x" * 20000))
        number += 1
        print(number, flush=True)
"""


def test_kill_9_loses_at_most_the_record_being_written(tmp_path: Path, root: Path) -> None:
    file = tmp_path / "j.jsonl.zst"
    command = [sys.executable, "-c", ENDLESS_WRITER, str(file)]
    for _ in range(3):
        before = len(list(JournalReader(file))) if file.exists() else 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
            assert process.stdout is not None
            acknowledged = 0
            while acknowledged < 50:
                acknowledged = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
        turns = [c.key.turn for c in JournalReader(file)][before:]
        assert turns == [str(n) for n in range(len(turns))]
        assert len(turns) >= acknowledged


def test_a_full_disk_costs_the_record_being_written_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system takes half of a frame and then refuses the rest."""
    file = tmp_path / "j.jsonl.zst"
    room = [10**9]
    real = os.write

    def write(fd: int, data: bytes) -> int:
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(fd, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr("traces.journal.frames.os.write", write)
    with JournalWriter(file) as writer:
        writer.add(capture("t1"))
        whole = file.stat().st_size
        room[0] = 30
        with pytest.raises(OutputError) as caught:
            writer.add(capture("t2"))
        assert str(caught.value) == f"{file}: cannot be written (No space left on device)"
        assert "free some space" in caught.value.fix
        assert file.stat().st_size == whole
        room[0] = 10**9
        writer.add(capture("t3"))
    reader = JournalReader(file)
    assert [c.key.turn for c in reader] == ["t1", "t3"]
    assert reader.torn_bytes == 0


def test_a_journal_is_its_owner_s_alone(tmp_path: Path) -> None:
    """Recorded sessions hold secrets."""
    file = tmp_path / "j.jsonl.zst"
    JournalWriter(file).close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_place_where_no_journal_can_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    file = tmp_path / "file" / "j.jsonl.zst"
    with pytest.raises(OutputError, match="cannot be written") as caught:
        JournalWriter(file)
    assert str(file) in str(caught.value)
