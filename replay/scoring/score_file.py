"""Scores already made, so that a resumed run scores nothing twice.

<run folder>/scores-0.jsonl.zst:  {"digest": "9f…", "logprobs": […], "top_logprobs": […], …}
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, convert

from traces.journal.frames import FrameAt, FrameReader, FrameWriter
from traces.journal.score import Outcome, Score, Shape
from traces.json_bytes import decode_json, encode_json

Way = tuple[Shape, int]
"""(shape, width) of a score."""

SCORE_AGAIN = (
    "restore the file from a copy, or take it away: `draftgate gate --resume RUN` asks the "
    "baseline again"
)


class ScoreFile(FrameWriter):
    """Holds final scores of one shape and width by digest; `known` are those on file."""

    def __init__(self, file: Path, shape: Shape, width: int = 1) -> None:
        super().__init__(file)
        self.width = width
        self.known = read_scores(file, shape, width)

    def add(self, digest: str, score: Score) -> None:
        self.known[digest] = score
        record = {
            "digest": digest,
            "outcome": score.outcome,
            "logprobs": score.logprobs,
            "top_logprobs": score.top_logprobs,
            "top_ids": score.top_ids,
            "error": score.error,
            "shape": score.shape,
            "width": self.width,
            "listed": [list(row.items()) for row in score.listed],
        }
        self.append(encode_json(record) + b"\n")


def read_scores(file: Path, shape: Shape = "prefill", width: int = 1) -> dict[str, Score]:
    """Digest -> score of that shape and width; the last one where a digest has several.

    Raises InputError, naming file and byte, for what is no score.
    """
    frames = FrameReader(file)
    found: dict[str, Score] = {}
    for line in frames:
        record, score = _read(line, frames)
        if (record.shape, record.width) == (shape, width):
            found[record.digest] = score
    return found


class ScoresOnFile(Mapping[str, Score]):
    """Scores of some files by digest, decoded when they are asked for.

    `ways` are those that count; of a digest that was scored in several, the later one of them, of
    several files the last. Raises InputError, naming file and byte, for
    what is no score.
    """

    def __init__(self, files: Sequence[Path], ways: Sequence[Way]) -> None:
        self._ways = tuple(ways)
        self._places: dict[str, tuple[int, FrameAt, int, int]] = {}
        self._files = [FrameAt(file) for file in files]
        for number, file in enumerate(self._files):
            self._add(number, file)

    def __getitem__(self, digest: str) -> Score:
        _, file, start, line = self._places[digest]
        return _score(convert(decode_json(file.lines(start)[line]), _Record))

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _add(self, number: int, file: FrameAt) -> None:
        frames = FrameReader(file.file)
        start, line = -1, 0
        for text in frames:
            line = line + 1 if frames.whole_bytes == start else 0
            start = frames.whole_bytes
            record, _ = _read(text, frames)
            if (record.shape, record.width) in self._ways:
                rank = len(self._ways) * number + self._ways.index((record.shape, record.width))
                known = self._places.get(record.digest)
                if known is None or known[0] <= rank:
                    self._places[record.digest] = rank, file, start, line


def _read(line: bytes, frames: FrameReader) -> "tuple[_Record, Score]":
    try:
        record = convert(decode_json(line), _Record)
        return record, _score(record)
    except (ValueError, RecursionError) as error:
        raise frames.damaged(f"not a score ({error!s:.200})", SCORE_AGAIN) from None


class _Record(Struct):
    digest: str
    outcome: Outcome
    shape: Shape
    logprobs: tuple[float, ...]
    top_logprobs: tuple[float, ...]
    top_ids: tuple[int, ...]
    error: str | None = None
    width: int = 1
    listed: tuple[tuple[tuple[int, float], ...], ...] = ()


def _score(record: _Record) -> Score:
    if not len(record.logprobs) == len(record.top_logprobs) == len(record.top_ids):
        raise ValueError("its lists have different lengths")
    return Score(
        outcome=record.outcome,
        logprobs=record.logprobs,
        top_logprobs=record.top_logprobs,
        top_ids=record.top_ids,
        error=record.error,
        shape=record.shape,
        listed=tuple(dict(row) for row in record.listed),
    )
