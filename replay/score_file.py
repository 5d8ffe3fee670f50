"""Scores already made, so that a resumed run scores nothing twice.

<run folder>/scores-0.jsonl.zst:  {"digest": "9f…", "logprobs": […], "top_logprobs": […], …}
"""

from pathlib import Path
from typing import Any

from traces.capture_record import decode_json, encode_json
from traces.frames import FrameReader, FrameWriter
from traces.score import Score


class ScoreFile(FrameWriter):
    """Holds final scores by digest; an answer that never came is not final."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self.known = read_scores(file)

    def add(self, digest: str, score: Score) -> None:
        if score.outcome == "no_answer":
            return
        self.known[digest] = score
        record = {
            "digest": digest,
            "outcome": score.outcome,
            "logprobs": score.logprobs,
            "top_logprobs": score.top_logprobs,
            "top_ids": score.top_ids,
            "error": score.error,
        }
        self.append(encode_json(record) + b"\n")


def read_scores(file: Path) -> dict[str, Score]:
    """Digest -> score."""
    return {record["digest"]: _score(record) for record in map(decode_json, FrameReader(file))}


def _score(record: dict[str, Any]) -> Score:
    return Score(
        outcome=record["outcome"],
        logprobs=tuple(record["logprobs"]),
        top_logprobs=tuple(record["top_logprobs"]),
        top_ids=tuple(record["top_ids"]),
        error=record["error"],
    )
