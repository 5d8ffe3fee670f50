"""`draftgate demo`: what it would run, what it says, and one real run of it."""

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest

from draftgate.cli import run
from draftgate.config.file import read_config
from draftgate.demo import config as demo_config
from draftgate.demo import files
from draftgate.demo.config import write_demo
from draftgate.machine.doctor import Check
from draftgate.run.plan import make_plan
from traces.errors import InputError


def bare(table: dict[str, object]) -> dict[str, object]:
    """The tables without what names a place."""
    text = json.dumps(table)
    parsed: dict[str, dict[str, object]] = json.loads(text)
    for section, key in (
        ("run", "sessions"),
        ("run", "db"),
        ("run", "output"),
        ("server", "model"),
    ):
        parsed[section].pop(key, None)
    parsed["candidate"]["speculative_config"].pop("model")  # type: ignore[attr-defined]
    return parsed


def test_it_is_the_quick_gate_with_its_own_places(root: Path, tmp_path: Path) -> None:
    written = tomllib.loads(write_demo(tmp_path / "demo").read_text(encoding="utf-8"))
    quick = tomllib.loads((root / "gate-quick.toml").read_text(encoding="utf-8"))
    assert bare(written) == bare(quick)
    whole = tomllib.loads(write_demo(tmp_path / "demo", whole=True).read_text(encoding="utf-8"))
    gate = tomllib.loads((root / "gate.toml").read_text(encoding="utf-8"))
    assert bare(whole) == bare(gate)


def test_it_can_be_run_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place in the file is absolute and there, and 40 turns are planned."""
    monkeypatch.chdir(tmp_path)
    folder = Path('a "quoted" folder')
    config = read_config(write_demo(folder))
    monkeypatch.chdir("/")
    for place in (config.server.model, config.candidate.speculative_config["model"]):
        assert (Path(place) / "config.json").is_file()
    assert Path(config.run.db).parent == tmp_path / folder
    assert make_plan(config).turns == 40


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What `machine_checks` finds; the configuration's own checks find nothing missing."""
    found = [Check("python", "ok", "3.11")]
    monkeypatch.setattr("draftgate.machine.doctor.machine_checks", lambda: iter(found))
    monkeypatch.setattr("draftgate.preflight.checks.config_checks", lambda config: iter(()))
    return found


def test_it_says_what_it_needs_and_begins_nothing_without_it(
    machine: list[Check],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    machine.append(Check("vllm", "warn", "not installed", "pip install 'draftgate[cpu]'"))
    monkeypatch.setattr("draftgate.api.gate", lambda *_, **__: pytest.fail("a run was begun"))
    assert run(["demo", "--folder", str(tmp_path / "demo")]) == 2
    out, err = capsys.readouterr()
    assert "no GPU, no network" in err
    assert out.splitlines()[0] == "warn     vllm: not installed"
    assert out.splitlines()[-1] == "not ready"
    assert run(["demo", "--folder", str(tmp_path / "demo"), "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["can_run"], said["checks"][0]["name"]) == (False, "vllm")


def test_check_only_looks(
    machine: list[Check],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("draftgate.api.gate", lambda *_, **__: pytest.fail("a run was begun"))
    assert run(["demo", "--folder", str(tmp_path / "demo"), "--check"]) == 0
    assert capsys.readouterr().out.splitlines() == ["ok       python: 3.11", "ready"]


def test_a_pair_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "INSTALLED", tmp_path / "pair")
    monkeypatch.setattr(files, "CHECKOUT", tmp_path / "weights")
    with pytest.raises(InputError, match="the demo's model pair is not there"):
        demo_config.demo_config(tmp_path)


@pytest.mark.vllm
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed")
def test_a_real_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two real servers, a few of its turns: no fault; a report, a store and a configuration."""
    monkeypatch.setattr(demo_config, "QUICK", "max_sessions = 2\nmax_turns = 6\n")
    folder = tmp_path / "demo"
    assert run(["demo", "--folder", str(folder), "--json"]) in (0, 3)
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["verdict"] in ("pass", "inconclusive")
    assert outcome["counts"]["turns_replayed"] == 6
    assert Path(outcome["report"]).is_file()
    assert Path(outcome["store"]) == folder / "draftgate.duckdb"
    assert (folder / "draftgate.toml").is_file()
