"""A plan reads no further than its caps; if it is empty, each file is named with its reason."""

import json
from pathlib import Path

import pytest

from draftgate.config.config import Config
from draftgate.run.plan import CAP_REASON, make_plan
from tests.support.paper.sessions import write_sessions
from traces.errors import InputError


def config(*sessions: Path, **caps: object) -> Config:
    run = {"sessions": [str(file) for file in sessions], **caps}
    servers = {"baseline": {"urls": ["http://a"]}, "candidate": {"urls": ["http://b"]}}
    return Config.model_validate({"run": run, **servers})


@pytest.fixture
def five(tmp_path: Path) -> Path:
    """Five sessions of three turns."""
    return write_sessions(tmp_path / "five.jsonl", 5, 3)


@pytest.mark.parametrize(
    ("caps", "turns"),
    [
        ({"max_sessions": 2}, [3, 3]),
        ({"max_turns": 4}, [3, 1]),
        ({"max_turns": 6}, [3, 3]),
        ({"max_turns": 1, "max_sessions": 9}, [1]),
        ({"max_sessions": 5}, [3] * 5),
    ],
)
def test_what_lies_behind_a_cap_is_not_read(
    five: Path, tmp_path: Path, caps: dict[str, int], turns: list[int]
) -> None:
    plan = make_plan(config(five, tmp_path / "not there", **caps))
    assert [len(jobs) for jobs in plan.jobs] == turns
    left_out = sum(3 - len(jobs) for jobs in plan.jobs)
    assert dict(plan.skipped) == ({CAP_REASON: left_out} if left_out else {})


def test_without_a_cap_all_is_read(five: Path, tmp_path: Path) -> None:
    assert make_plan(config(five)).turns == 15
    with pytest.raises(InputError, match="not there: no such file"):
        make_plan(config(five, tmp_path / "not there"))


def test_nothing_to_replay_is_reported_file_by_file(tmp_path: Path) -> None:
    notes, shape = tmp_path / "notes.md", tmp_path / "shape.jsonl"
    notes.write_text("# Notes\n")
    row = {"timestamp": 0, "input_length": 9, "output_length": 3, "hash_ids": [1]}
    shape.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError) as caught:
        make_plan(config(notes, shape))
    assert f"{notes}: no known session format matches" in str(caught.value)
    assert f"{shape}: a load shape" in str(caught.value)


def test_the_configuration_chooses_how_true_prompts_must_be(tmp_path: Path) -> None:
    """The second user message holds a part that nobody knows, so it is known to be missed."""
    file = tmp_path / "rows.jsonl"
    unknown = [{"type": "text", "text": "And?"}, {"type": "hologram", "data": "?"}]
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "Gone."},
        {"role": "user", "content": unknown},
        {"role": "assistant", "content": "Nothing."},
    ]
    file.write_text(json.dumps({"messages": messages}) + "\n")
    assert make_plan(config(file)).turns == 2
    plan = make_plan(config(file, fidelity=["exact", "rebuilt"]))
    assert plan.turns == 1
    assert dict(plan.skipped) == {"lossy, which run.fidelity leaves out": 1}
    assert make_plan(config(file, fidelity=["lossy"], max_turns=1)).jobs[0][0].turn == "t0001"
    with pytest.raises(InputError, match=r"lossy, which run\.fidelity leaves out: 1"):
        make_plan(config(file, fidelity=["after_compaction"]))
    for wrong in ([], ["true"]):
        with pytest.raises(ValueError, match=r"run\.fidelity"):
            config(file, fidelity=wrong)
