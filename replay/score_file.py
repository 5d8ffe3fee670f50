"""Scores already made, so that a resumed run scores nothing twice.

<run folder>/scores-0.jsonl.zst:  {"digest": "9f…", "logprobs": […], "top_logprobs": […], …}
"""

from pathlib import Path
from typing import Any

from traces.capture_record import decode_json, encode_json
from traces.frames import FrameReader, FrameWriter
from traces.score import Score, Shape


class ScoreFile(FrameWriter):
    """Holds final scores of one shape by digest; `known` are those on file."""

    def __init__(self, file: Path, shape: Shape) -> None:
        super().__init__(file)
        self.known = {d: score for d, score in read_scores(file).items() if score.shape == shape}

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
        }
        self.append(encode_json(record) + b"\n")


def read_scores(file: Path) -> dict[str, Score]:
    """Digest -> score; the last one where a digest has several."""
    return {record["digest"]: _score(record) for record in map(decode_json, FrameReader(file))}


def _score(record: dict[str, Any]) -> Score:
    return Score(
        outcome=record["outcome"],
        logprobs=tuple(record["logprobs"]),
        top_logprobs=tuple(record["top_logprobs"]),
        top_ids=tuple(record["top_ids"]),
        error=record["error"],
        shape=record["shape"],
    )
