"""Scores already made, so that a resumed run scores nothing twice.

<run folder>/scores-0.jsonl.zst:  {"digest": "9f…", "logprobs": […], "top_logprobs": […], …}
"""

from pathlib import Path

from msgspec import Struct, convert

from traces.journal.frames import FrameReader, FrameWriter
from traces.journal.score import Outcome, Score, Shape
from traces.json_bytes import decode_json, encode_json

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
        try:
            record = convert(decode_json(line), _Record)
            score = _score(record)
        except (ValueError, RecursionError) as error:
            raise frames.damaged(f"not a score ({error!s:.200})", SCORE_AGAIN) from None
        if (record.shape, record.width) == (shape, width):
            found[record.digest] = score
    return found


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
