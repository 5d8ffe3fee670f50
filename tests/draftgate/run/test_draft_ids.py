"""Draft ids of a run: what both servers are launched with, and what the report says of it."""

from pathlib import Path

import pytest

from checks.servers.draft_ids import draft_id_notes
from draftgate.config.config import Config
from draftgate.config.file import parse_config
from draftgate.preflight.paths import check_paths
from draftgate.run.paths import server_spec
from replay.launch.command import server_command, server_environment
from replay.launch.draft_ids import FOLDER, SYNCHRONOUS
from traces.errors import ConfigError
from traces.journal.path_facts import SERVED, PathFacts

EAGLE = {"method": "eagle3", "num_speculative_tokens": 3}


def config(flags: list[str] | None = None, *, draft_ids: bool = True, model: str = "m") -> Config:
    written = {
        "run": {"draft_ids": draft_ids},
        "server": {"model": model, "flags": flags or []},
        "candidate": {"speculative_config": EAGLE},
    }
    return parse_config(written, "test")


def test_both_paths_schedule_alike_and_the_one_that_drafts_has_the_plugin() -> None:
    specs = {name: server_spec(config(), name) for name in ("baseline", "candidate")}
    for spec in specs.values():
        assert server_command(spec, 1).count(SYNCHRONOUS) == 1
    found = {
        name: str(FOLDER) in server_environment(spec).get("PYTHONPATH", "")
        for name, spec in specs.items()
    }
    assert found == {"baseline": False, "candidate": True}


def test_without_the_key_servers_are_launched_as_ever() -> None:
    for name in ("baseline", "candidate"):
        spec = server_spec(config(draft_ids=False), name)
        assert not spec.draft_ids
        assert SYNCHRONOUS not in server_command(spec, 1)


def test_flags_that_forbid_it_are_named_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    check_paths(config(model=str(tmp_path)))
    asked = config(["--async-scheduling"], model=str(tmp_path))
    with pytest.raises(ConfigError, match="--async-scheduling") as caught:
        check_paths(asked)
    assert "`draft_ids`" in caught.value.fix


def test_the_report_says_that_the_server_under_test_is_another() -> None:
    plain = PathFacts("baseline", "http://b")
    assert list(draft_id_notes({"baseline": [plain], "candidate": [plain]})) == []
    served = PathFacts("candidate", "http://c", draft_ids=SERVED)
    (note,) = draft_id_notes({"baseline": [plain], "candidate": [served]})
    assert "the candidate ran with draftgate's plugin" in note
    missing = PathFacts("candidate", "http://c", draft_ids="SchedulerOutput has no x")
    (note,) = draft_id_notes({"baseline": [plain], "candidate": [missing]})
    assert note.startswith("draft ids are not available (candidate: SchedulerOutput has no x)")
