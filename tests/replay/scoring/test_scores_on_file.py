"""Scores that stay on file are those that reading the whole file gives."""

from pathlib import Path

import pytest

from replay.scoring.score_file import ScoreFile, ScoresOnFile, read_scores
from traces.errors import InputError
from traces.journal.score import Score, Shape

WAYS: tuple[tuple[Shape, int], ...] = (("decode", 1), ("prefill", 1), ("prefill", 20))


def score(value: float, shape: Shape, width: int) -> Score:
    listed = tuple({7: value, 8: value - 1} for _ in range(2)) if width > 1 else ()
    return Score("scored", (value,) * 2, (0.0,) * 2, (7, 7), shape=shape, listed=listed)


def written(file: Path, first: float) -> Path:
    """`a` is scored in all ways, one of them twice; `b` by lockstep alone; `c` in another width."""
    for place, (shape, width) in enumerate([*WAYS[::-1], WAYS[2]]):
        with ScoreFile(file, shape, width) as scores:
            scores.add("a", score(first - place, shape, width))
            if shape == "decode":
                scores.add("b", score(first, shape, width))
    with ScoreFile(file, "prefill", 5) as scores:
        scores.add("c", score(first, "prefill", 5))
    return file


def test_the_later_way_and_the_later_file_count(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{name}.jsonl.zst", -float(name)) for name in (10, 20)]
    whole: dict[str, Score] = {}
    for file in files:
        for shape, width in WAYS:
            whole |= read_scores(file, shape, width)
    found = ScoresOnFile(files, WAYS)
    assert dict(found) == whole
    assert found["a"].logprobs == (-23.0, -23.0), "the last file's last score with lists"
    assert (len(found), found.get("c")) == (2, None)


def test_what_is_no_score_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl.zst", -1.0)
    with ScoreFile(file, "prefill") as scores:
        scores.append(b'{"digest": 1}\n')
    with pytest.raises(InputError, match="not a score"):
        ScoresOnFile([file], WAYS)
