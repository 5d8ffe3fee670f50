"""Scores already made, so that a resumed run scores nothing twice.

<run folder>/scores-0.jsonl.zst:  {"digest": "9f…", "logprobs": […], "top_logprobs": […], …}
"""

from pathlib import Path
from typing import Any

from traces.capture_record import decode_json, encode_json
from traces.frames import FrameReader, FrameWriter
from traces.score import Score, Shape


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
    """Digest -> score of that shape and width; the last one where a digest has several."""
    return {
        record["digest"]: _score(record)
        for record in map(decode_json, FrameReader(file))
        if (record["shape"], record.get("width", 1)) == (shape, width)
    }


def _score(record: dict[str, Any]) -> Score:
    return Score(
        outcome=record["outcome"],
        logprobs=tuple(record["logprobs"]),
        top_logprobs=tuple(record["top_logprobs"]),
        top_ids=tuple(record["top_ids"]),
        error=record["error"],
        shape=record["shape"],
        listed=tuple(dict(row) for row in record.get("listed", ())),
    )
