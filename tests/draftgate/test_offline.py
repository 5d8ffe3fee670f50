"""Judging journals: what was named is what is judged, wherever it lies."""

import shutil
from pathlib import Path

import pytest
from conftest import Gate, K
from paper_server import Faults
from paper_stream import Stream

from draftgate.run.offline import judge_journals


def lost_calls(stream: Stream, request: dict) -> None:
    stream.calls = []


@pytest.fixture
def folders(gate: Gate, tmp_path: Path) -> tuple[Path, Path]:
    """(the folder of a run whose candidate loses its calls, that of a sound run)."""
    bad = gate(Faults(drafts=K, spoil=lost_calls)).folder
    good = gate().folder
    assert bad is not None
    assert good is not None
    # Names that sort either way: the outcome must not hang on them.
    return (
        Path(shutil.copytree(bad, tmp_path / "a")),
        Path(shutil.copytree(good, tmp_path / "b")),
    )


def named(candidate: Path, baseline: Path) -> list[Path]:
    return [candidate / "candidate-main-0.jsonl.zst", baseline / "baseline-main-0.jsonl.zst"]


@pytest.mark.parametrize("swap", [False, True])
def test_the_named_candidate_is_judged_and_not_the_one_beside_the_baseline(
    folders: tuple[Path, Path], swap: bool
) -> None:
    bad, good = folders
    files = named(bad, good)
    assert "TOOL_CALL_LOST" in judge_journals(files[::-1] if swap else files, None).codes
    assert "TOOL_CALL_LOST" not in judge_journals(named(good, bad), None).codes


def test_scores_are_found_beside_any_named_journal(folders: tuple[Path, Path]) -> None:
    _, good = folders
    states = [
        {b.name: b.state for b in judge_journals(files, None).verdict.bounds}
        for files in (named(good, good), named(good, good)[::-1])
    ]
    assert states[0] == states[1]
    assert states[0]["scored_share"] == "pass"


def test_a_plain_arm_that_one_path_lacks_does_not_pass(folders: tuple[Path, Path]) -> None:
    _, good = folders
    (good / "candidate-plain-0.jsonl.zst").unlink()
    bounds = {b.name: b for b in judge_journals(named(good, good), None).verdict.bounds}
    assert bounds["answered_turns"].state == "inconclusive"
    assert "arm plain" in bounds["answered_turns"].message
