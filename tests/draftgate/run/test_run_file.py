"""`run.json` and `paths.json`: a later judgement and a resumed run know what was planned."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from draftgate.api import gate
from draftgate.config.config import Config
from draftgate.config.file import parse_config
from draftgate.progress import SilentReporter
from draftgate.run.folder import RunFolder, resumable
from draftgate.run.gate import run_gate
from draftgate.run.offline import judge_journals
from draftgate.run.plan import Fitting, Plan
from draftgate.run.run_file import (
    RunFile,
    _shown,
    begun_config,
    changes_since,
    read_facts,
    read_run,
    write_run,
)
from tests.support.paper.gate import K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions
from traces.errors import ConfigError, InputError, ServerError
from traces.journal.journal import JournalReader, JournalWriter


@pytest.fixture(autouse=True)
def _few_sessions(tmp_path: Path) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 6, 2)


def gated(folder: Path, candidate: Faults) -> RunFolder:
    with paper_paths(candidate) as servers:
        return RunFolder(run_gate(paper_config(folder, servers), SilentReporter()).folder)


def journals(folder: RunFolder) -> list[Path]:
    return [folder.journal(path, "main") for path in ("candidate", "baseline")]


def without(journal: Path, turns: Iterable[tuple[str, str]]) -> None:
    """Write a journal again without some turns."""
    kept = [c for c in JournalReader(journal) if (c.key.session, c.key.turn) not in set(turns)]
    journal.unlink()
    with JournalWriter(journal) as writer:
        for capture in kept:
            writer.add(capture)


def test_a_gate_writes_its_plan_and_what_the_servers_said(tmp_path: Path) -> None:
    folder = gated(tmp_path, Faults(drafts=K))
    plan, facts = read_run(folder), read_facts(folder)
    assert plan is not None
    assert (plan.run, plan.sessions, plan.turns) == (folder.run, 6, 12)
    assert len(plan.limits) == 12
    assert {limit for _, _, limit in plan.limits} == {256}  # as recorded
    assert plan.config["candidate"]["speculative_config"]["num_speculative_tokens"] == K
    assert {path: [f.version for f in known] for path, known in facts.items()} == {
        "candidate": ["0.32.0"],
        "baseline": ["0.32.0"],
    }
    assert facts["candidate"][0].models is not None
    assert facts["candidate"][0].observables is not None


def test_journals_are_judged_by_the_policy_of_their_run(tmp_path: Path) -> None:
    """A looser or stricter policy is part of what a run was: it need not be named again."""
    with paper_paths(Faults(drafts=K)) as servers:
        config = paper_config(tmp_path, servers)
        strict = config.model_copy(
            update={"policy": config.policy.model_copy(update={"acceptance_floor": 9.0})}
        )
        folder = RunFolder(run_gate(strict, SilentReporter()).folder)
    own = {b.name: b for b in judge_journals(journals(folder), None).verdict.bounds}
    assert own["mean_acceptance_length"].margin == 9.0
    other = tmp_path / "other.toml"
    other.write_text(
        '[run]\nsessions = ["sessions.jsonl"]\n[baseline]\nurls = ["http://b"]\n'
        '[candidate]\nurls = ["http://c"]\n[policy]\nacceptance_floor = 1.1\n'
    )
    named = {b.name: b for b in judge_journals(journals(folder), other).verdict.bounds}
    assert named["mean_acceptance_length"].margin == 1.1


def test_journals_without_their_run_json_say_that_its_policy_is_missing(tmp_path: Path) -> None:
    folder = gated(tmp_path, Faults(drafts=K))
    assert not any("policy" in note for note in judge_journals(journals(folder), None).notes)
    moved = tmp_path / "moved"
    moved.mkdir()
    for journal in journals(folder):
        journal.rename(moved / journal.name)
    files = list(moved.iterdir())
    (note, *_) = judge_journals(files, None).notes
    assert note.startswith("no run.json of their run lies beside the journals")
    own = tmp_path / "own.toml"
    own.write_text('[baseline]\nurls = ["http://b"]\n[candidate]\nurls = ["http://c"]\n')
    assert not any("policy" in note for note in judge_journals(files, own).notes)


def test_the_run_s_own_configuration_is_readable_whatever_was_left_out() -> None:
    begun = RunFile("r", "0", "2026-01-01", _shown(config()), 1, 1)
    assert begun_config(begun).server.env == {}
    assert begun_config(begun).policy == config().policy
    odd = RunFile("r", "0", "2026-01-01", {**_shown(config()), "polcy": {}}, 1, 1)
    with pytest.raises(ConfigError, match=r"run r, run\.json: polcy: unknown key") as caught:
        begun_config(odd)
    assert "-c" in caught.value.fix


def test_servers_that_differ_are_invalid_offline_too(tmp_path: Path) -> None:
    folder = gated(tmp_path, Faults(drafts=K, version="0.31.0"))
    assert "PATHS_DIFFER" in judge_journals(journals(folder), None).codes
    folder.paths.unlink()
    assert "PATHS_DIFFER" not in judge_journals(journals(folder), None).codes


def test_turns_that_no_path_answered_are_missing_offline_too(tmp_path: Path) -> None:
    folder = gated(tmp_path, Faults(drafts=K))
    whole = {b.name: b for b in judge_journals(journals(folder), None).verdict.bounds}
    assert whole["answered_turns"].state == "pass"
    plan = read_run(folder)
    assert plan is not None
    gone = [(session, turn) for session, turn, _ in plan.limits[:4]]
    for journal in folder.journals():
        without(journal, gone)
    bounds = {b.name: b for b in judge_journals(journals(folder), None).verdict.bounds}
    assert bounds["answered_turns"].state == "inconclusive"
    assert bounds["answered_turns"].message.startswith("4 of ")


BASE: dict[str, Any] = {
    "run": {"sessions": ["s.jsonl"], "max_tokens": 100},
    "server": {
        "model": "m",
        "flags": ["--api-key", "sk-hidden-flag", "--dtype", "float32"],
        "env": {"HF_TOKEN": "hidden-env"},
    },
    "candidate": {"speculative_config": {"method": "ngram", "num_speculative_tokens": 3}},
}


def config(**changed: dict[str, Any]) -> Config:
    return parse_config({**BASE, **{k: BASE.get(k, {}) | v for k, v in changed.items()}}, "test")


@pytest.fixture
def begun(tmp_path: Path) -> RunFolder:
    folder = RunFolder.new(tmp_path / "out")
    write_run(folder, config(), Plan(()), datetime(2026, 11, 29, tzinfo=UTC), Fitting())
    return folder


def test_no_secret_is_kept(begun: RunFolder) -> None:
    text = begun.plan.read_text()
    assert "hidden" not in text
    assert "HF_TOKEN" in text


def test_the_same_configuration_goes_on(begun: RunFolder) -> None:
    assert changes_since(begun, config()) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"run": {"max_tokens": 200}}, "run.max_tokens was 100, is 200"),
        ({"run": {"seed": 1}}, "run.seed was 0, is 1"),
        ({"run": {"draft_ids": True}}, "run.draft_ids was false, is true"),
        ({"run": {"concurrency": 8}}, "run.concurrency was 4, is 8"),
        ({"run": {"sessions": ["t.jsonl"]}}, 'run.sessions was ["s.jsonl"], is ["t.jsonl"]'),
        ({"run": {"max_turns": 5}}, "run.max_turns was not set, is 5"),
        ({"run": {"arms": "all"}}, 'run.arms was "listed", is "all"'),
        ({"server": {"model": "n"}}, 'server.model was "m", is "n"'),
        ({"server": {"flags": []}}, "server.flags was"),
        ({"server": {"env": {}}}, "server.env was"),
        ({"candidate": {"flags": ["--x"]}}, "candidate.flags was"),
        (
            {"candidate": {"speculative_config": {"method": "ngram", "num_speculative_tokens": 5}}},
            "candidate.speculative_config.num_speculative_tokens was 3, is 5",
        ),
        (
            {"candidate": {"speculative_config": {"method": "ngram"}}},
            "candidate.speculative_config.num_speculative_tokens was 3, is not set",
        ),
    ],
)
def test_another_run_is_not_resumed(
    begun: RunFolder, changed: dict[str, dict[str, Any]], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        changes_since(begun, config(**changed))
    assert words in str(caught.value)
    assert "or begin a new run" in caught.value.fix


def test_what_may_change_is_noted_and_where_results_go_is_free(begun: RunFolder) -> None:
    changed = config(policy={"rate_margin": 0.01}, run={"db": "other.duckdb", "scorer": "lockstep"})
    assert changes_since(begun, changed) == [
        'resumed: run.scorer was "auto", is "lockstep"',
        "resumed: policy.rate_margin was 0.0001, is 0.01",
    ]


def test_a_key_that_a_newer_version_brings_was_not_changed_by_the_user(begun: RunFolder) -> None:
    plan = json.loads(begun.plan.read_text())
    del plan["config"]["run"]["kind"], plan["config"]["run"]["allow_missing"]
    begun.plan.write_text(json.dumps(plan))
    assert changes_since(begun, config()) == []
    with pytest.raises(ConfigError, match=r'run\.kind was not set, is "aa"'):
        changes_since(begun, config(run={"kind": "aa"}))


def test_tails_that_the_run_settled_were_not_changed_by_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("draftgate.run.target.target_config", lambda model: {"num_experts": 8})
    with paper_paths() as servers:
        first = paper_config(tmp_path, servers, noise_tails="auto")
        folder = RunFolder(run_gate(first, SilentReporter()).folder)
    assert changes_since(folder, first) == []
    plan = read_run(folder)
    assert plan is not None
    assert (first.policy.noise_tails, begun_config(plan).policy.noise_tails) == ("auto", "heavy")


def test_options_need_not_be_given_again_and_others_are_refused_at_once(tmp_path: Path) -> None:
    with paper_paths() as servers:
        tables = paper_config(tmp_path, servers).model_dump(exclude_unset=True)
        sessions = tables["run"].pop("sessions")
        urls = {f"{path}_urls": tables[path].pop("urls") for path in ("baseline", "candidate")}
        servers[1].faults = Faults(drafts=K, die_after=20)
        with pytest.raises(ServerError):
            gate(tables, sessions=sessions, concurrency=2, **urls)
        servers[1].faults = Faults(drafts=K)
        asked = len(servers[1].salts)
        with pytest.raises(ConfigError, match=r"run\.max_sessions was not set, is 3"):
            gate(tables, max_sessions=3, resume="last")
        with pytest.raises(ConfigError, match=r"run\.concurrency was 2, is 4"):
            gate(tables, concurrency=4, resume="last")
        assert len(servers[1].salts) == asked
        outcome = gate(tables, resume="2")
    assert outcome.counts["turns_judged"] == 12
    assert not any("resumed" in note or "for others" in note for note in outcome.notes)


def test_a_run_is_resumed_by_its_beginning_or_as_the_last(tmp_path: Path) -> None:
    for name in ("20261101-100000-aaaa", "20261102-100000-bbbb"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    assert RunFolder.existing(tmp_path, "last").run == "20261102-100000-bbbb"
    assert RunFolder.existing(tmp_path, "20261101").run == "20261101-100000-aaaa"
    for name in ("", "..", "2027", "runs"):
        with pytest.raises(InputError, match="no such run to resume"):
            RunFolder.existing(tmp_path, name)
    with pytest.raises(InputError, match="several runs begin so") as caught:
        RunFolder.existing(tmp_path, "202611")
    assert "20261101-100000-aaaa, 20261102-100000-bbbb" in caught.value.fix


def test_a_folder_without_a_plan_is_resumed_as_it_is(tmp_path: Path) -> None:
    assert changes_since(RunFolder.new(tmp_path / "out"), config()) == []


@pytest.mark.parametrize("text", ["", "{", "[1]", "{}", '{"run": 5}'])
def test_a_plan_that_is_none_is_named(begun: RunFolder, text: str) -> None:
    begun.plan.write_text(text)
    with pytest.raises(InputError, match=r"run\.json: is not what a gate writes there"):
        read_run(begun)
    begun.paths.write_text(text or "5")
    if text != "{}":
        with pytest.raises(InputError, match=r"paths\.json: is not what a gate writes there"):
            read_facts(begun)


def test_an_interrupted_run_is_not_resumed_as_another(tmp_path: Path) -> None:
    with paper_paths() as servers:
        first = paper_config(tmp_path, servers)
        servers[1].faults = Faults(drafts=K, die_after=20)
        with pytest.raises(ServerError):
            run_gate(first, SilentReporter())
        (folder,) = (tmp_path / "out" / "runs").iterdir()
        servers[1].faults = Faults(drafts=K)
        other = first.model_copy(update={"run": first.run.model_copy(update={"max_tokens": 64})})
        with pytest.raises(ConfigError, match=r"run\.max_tokens was 1024, is 64"):
            run_gate(other, SilentReporter(), resume=folder.name)
        assert run_gate(first, SilentReporter(), resume=folder.name).counts["turns_judged"] == 12


def test_the_plan_is_json_that_others_can_read(begun: RunFolder) -> None:
    plan = json.loads(begun.plan.read_text())
    assert (plan["started_at"], plan["turns"]) == ("2026-11-29T00:00:00+00:00", 0)


def test_a_run_that_another_process_is_at_work_on_is_refused(tmp_path: Path) -> None:
    folder = RunFolder.new(tmp_path)
    with resumable(folder):
        other = resumable(folder)
        with pytest.raises(InputError, match="another process is at work on this run"):
            other.__enter__()
    with resumable(folder):
        pass
