"""Where turns stand in journals: the same exchanges as reading them whole, one at a time."""

from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from draftgate.run.folder import add_journal
from tests.support.capture import capture
from traces.errors import InputError
from traces.journal.capture_record import encode_record
from traces.journal.exchange import Evidence
from traces.journal.index import JournalIndex
from traces.journal.journal import JournalWriter
from traces.wire.capture import Capture


def written(file: Path, *captures: Capture) -> Path:
    with JournalWriter(file) as writer:
        for one in captures:
            writer.add(one)
    return file


def of(session: str, turn: str, attempt: int = 0, path: str = "candidate") -> Capture:
    one = capture(turn, f'data: {{"x": {attempt}}}\n\n')
    return replace(one, key=replace(one.key, session=session, attempt=attempt, path=path))


def test_every_turn_is_read_as_from_the_whole_journal(tmp_path: Path) -> None:
    file = written(
        tmp_path / "candidate-main-0.jsonl.zst",
        of("s1", "t1"),
        of("s2", "t1", 1),
        of("s2", "t1"),  # an earlier attempt that was written late
        of("s1", "t2", path="nobody"),
        of("s1", "t1", 1),
    )
    index, evidence = JournalIndex(), Evidence()
    index.add(file)
    add_journal(evidence, file)
    places = index.of("candidate")
    assert {turn: index.read(place) for turn, place in places.items()} == evidence.of("candidate")
    assert {turn: place.attempt for turn, place in places.items()} == {
        ("s1", "t1"): 1,
        ("s2", "t1"): 1,
    }
    assert [(stray.record, stray.path) for stray in index.strays] == [(4, "nobody")]
    assert index.strays == evidence.strays
    index.close()


def test_a_frame_may_hold_several_lines(tmp_path: Path) -> None:
    """Other writers, and `zstd` itself, put a whole file into one frame."""
    file = tmp_path / "candidate-main-0.jsonl.zst"
    lines = b"".join(encode_record(of("s1", f"t{n}")) for n in range(3))
    file.write_bytes(zstandard.ZstdCompressor().compress(lines))
    index = JournalIndex()
    index.add(file)
    read = [index.read(place).turn for place in index.of("candidate").values()]
    assert read == [("s1", "t0"), ("s1", "t1"), ("s1", "t2")]


def test_what_is_no_capture_is_named_with_its_byte(tmp_path: Path) -> None:
    file = written(tmp_path / "j.jsonl.zst", of("s1", "t1"))
    second = file.stat().st_size
    with file.open("ab") as more:
        more.write(zstandard.ZstdCompressor().compress(b'{"run": "r1"}\n'))
    with pytest.raises(InputError, match=f"byte {second}: not a capture record"):
        JournalIndex().add(file)


def test_a_field_of_another_type_is_named_where_the_turn_is_read(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl.zst"
    record = encode_record(of("s1", "t1")).replace(b'"status":200', b'"status":"ok"')
    file.write_bytes(zstandard.ZstdCompressor().compress(record))
    index = JournalIndex()
    index.add(file)
    (place,) = index.of("candidate").values()
    with pytest.raises(InputError, match=r"byte 0: not a capture record .*status"):
        index.read(place)
