"""What is proved of the servers before a turn is sent: each mix-up ends at once, by its name."""

import re
from pathlib import Path

import pytest

from draftgate.config.config import Config
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.stored import reference_rows
from reports.store.store import Store
from tests.support.paper.gate import K, paper_config, paper_paths
from tests.support.paper.server import Faults, PaperServer
from tests.support.paper.sessions import write_sessions
from traces.errors import ConfigError, DraftgateError, InvalidRun, ServerError

BASELINE, CANDIDATE = Faults(), Faults(drafts=K)


@pytest.fixture(autouse=True)
def _few_sessions(tmp_path: Path) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 6, 2)


def probes_only(*servers: PaperServer) -> bool:
    """Nothing of a session was sent."""
    return {salt for server in servers for salt in server.salts} <= {"probe"}


def with_run(config: Config, **run: object) -> Config:
    return config.model_copy(update={"run": config.run.model_copy(update=run)})


def refused(config: Config, kind: type[DraftgateError] = InvalidRun) -> str:
    with pytest.raises(kind) as caught:
        run_gate(config, SilentReporter())
    assert caught.value.fix
    assert not (Path(config.run.output) / "runs").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("baseline", "candidate", "words"),
    [
        (
            CANDIDATE,
            BASELINE,
            "the baseline drafts and the candidate does not: are the paths swapped?",
        ),
        (CANDIDATE, CANDIDATE, "both paths draft: these are two candidates"),
        (BASELINE, BASELINE, "neither path has a drafter: these are two baselines"),
        (Faults(drafts=K, idle=True), CANDIDATE, "both paths draft: these are two candidates"),
        (Faults(drafts=K, metrics="none"), CANDIDATE, "both paths draft: these are two candidates"),
    ],
    ids=["swapped", "two candidates", "no drafter", "idle baseline", "baseline without metrics"],
)
def test_paths_that_are_no_baseline_and_candidate_are_invalid_at_once(
    tmp_path: Path, baseline: Faults, candidate: Faults, words: str
) -> None:
    with paper_paths(candidate, baseline) as servers:
        assert refused(paper_config(tmp_path, servers)).startswith(words)
    assert probes_only(*servers)


def test_one_url_for_both_paths_is_invalid_before_it_is_asked(tmp_path: Path) -> None:
    with paper_paths() as (_, candidate):
        config = paper_config(tmp_path, (candidate, candidate))
        twice = config.baseline.model_copy(update={"urls": (f"{candidate.url}/v1/",)})
        for one in (config, config.model_copy(update={"baseline": twice})):
            assert refused(one).startswith("both URLs are one server")
    assert candidate.salts == []


def test_one_server_under_two_names_is_seen_by_its_process(tmp_path: Path) -> None:
    with paper_paths() as (_, candidate):
        config = paper_config(tmp_path, (candidate, candidate))
        other = candidate.url.replace("127.0.0.1", "localhost")
        named = config.baseline.model_copy(update={"urls": (other,)})
        words = refused(config.model_copy(update={"baseline": named}))
    assert words.startswith("both URLs are one server")


def test_a_drafter_that_drafts_nothing_in_the_probes_is_a_note_and_judged_by_the_run(
    tmp_path: Path,
) -> None:
    with paper_paths(Faults(drafts=K, idle=True)) as servers:
        outcome = run_gate(paper_config(tmp_path, servers), SilentReporter())
    assert (outcome.verdict.verdict, list(outcome.codes)) == ("invalid", ["NO_DRAFTS"])
    assert any("drafted nothing in the probes" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("candidate", "flag"),
    [
        (Faults(drafts=K, metrics="none"), "--per-request-spec-decode-metrics=detailed"),
        (Faults(drafts=K, metrics="summary"), "--per-request-spec-decode-metrics=detailed"),
        (Faults(drafts=K, cached=False), "--enable-prompt-tokens-details"),
    ],
    ids=["no metrics", "a summary", "no cached tokens"],
)
def test_a_forgotten_flag_is_named_before_the_replay(
    tmp_path: Path, candidate: Faults, flag: str
) -> None:
    with paper_paths(candidate) as servers, pytest.raises(ServerError) as caught:
        run_gate(paper_config(tmp_path, servers), SilentReporter())
    assert f"candidate {servers[1].url} does not show" in str(caught.value)
    assert (
        f"start the candidate with {flag}; or go on without it: --allow-missing" in caught.value.fix
    )
    assert probes_only(*servers)


def test_both_paths_are_asked_before_either_is_replayed(tmp_path: Path) -> None:
    with (
        paper_paths(baseline=Faults(cached=False)) as servers,
        pytest.raises(ServerError) as caught,
    ):
        run_gate(paper_config(tmp_path, servers), SilentReporter())
    assert "start the baseline with --enable-prompt-tokens-details" in caught.value.fix
    assert probes_only(*servers)


@pytest.mark.parametrize("path", ["baseline", "candidate"])
def test_every_url_of_a_path_is_asked_before_either_is_replayed(tmp_path: Path, path: str) -> None:
    with paper_paths() as servers:
        config = paper_config(tmp_path, servers)
        section = getattr(config, path)
        urls = (*section.urls, "http://127.0.0.1:9")
        config = config.model_copy(update={path: section.model_copy(update={"urls": urls})})
        assert "http://127.0.0.1:9" in refused(config, ServerError)
    assert probes_only(*servers)


def test_a_key_a_python_a_model_and_a_flag_are_looked_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DRAFTGATE_NO_KEY", raising=False)
    with paper_paths() as servers:
        config = paper_config(tmp_path, servers)
        for path in ("baseline", "candidate"):
            keyed = getattr(config, path).model_copy(update={"api_key_env": "DRAFTGATE_NO_KEY"})
            words = refused(config.model_copy(update={path: keyed}), ConfigError)
            assert "DRAFTGATE_NO_KEY" in words
        launched = config.baseline.model_copy(update={"urls": ()})
        for server, words in (
            ({"python": "/no/python", "model": "hub/name"}, "no Python at /no/python"),
            ({"model": str(tmp_path)}, "holds no config.json (server.model)"),
            ({"model": "hub/name", "flags": ("--model", "x")}, "--model is set by draftgate"),
        ):
            update = {"baseline": launched, "server": config.server.model_copy(update=server)}
            assert words in refused(config.model_copy(update=update), ConfigError)
    assert servers[0].salts == servers[1].salts == []


def test_what_is_not_shown_is_listed_where_the_user_goes_on_without_it(tmp_path: Path) -> None:
    with paper_paths(Faults(drafts=K, cached=False)) as servers:
        config = with_run(paper_config(tmp_path, servers), allow_missing=True)
        outcome = run_gate(config, SilentReporter())
    assert outcome.codes == {}
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        (run,) = store.rows("select unverified from runs")
    assert any("no prefix-cache check (candidate http" in line for line in run["unverified"])


@pytest.mark.parametrize("metrics", ["none", "summary"])
def test_a_flag_left_out_on_purpose_is_no_drafter_that_does_nothing(
    tmp_path: Path, metrics: str
) -> None:
    with paper_paths(Faults(drafts=K, metrics=metrics)) as servers:
        config = with_run(paper_config(tmp_path, servers), allow_missing=True)
        outcome = run_gate(config, SilentReporter())
    assert outcome.codes == {}
    (note,) = [note for note in outcome.notes if "step by step" in note]
    assert "its counters show" in note
    assert "--per-request-spec-decode-metrics=detailed" in note


def test_drafts_that_nobody_shows_leave_the_verdict_open(tmp_path: Path) -> None:
    with paper_paths(Faults(drafts=K, metrics="none", counts=False)) as servers:
        config = with_run(paper_config(tmp_path, servers), allow_missing=True)
        outcome = run_gate(config, SilentReporter())
    assert outcome.verdict.verdict == "inconclusive"
    assert any("--per-request-spec-decode-metrics" in line for line in outcome.verdict.needed)


@pytest.mark.parametrize("faults", [BASELINE, CANDIDATE], ids=["plain", "drafting"])
def test_a_server_against_itself_is_an_aa_run_and_no_pass_of_a_candidate(
    tmp_path: Path, faults: Faults
) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 24, 4)
    with paper_paths(faults) as (_, server):
        config = with_run(paper_config(tmp_path, (server, server)), kind="aa")
        outcome = run_gate(config, SilentReporter())
    assert (outcome.verdict.verdict, outcome.exit_code) == ("aa-pass", 0), outcome.verdict.reasons
    assert outcome.verdict.reasons[0].startswith("A/A: equal paths were compared")
    assert outcome.as_json()["verdict"] == "aa-pass"
    outcome.print_summary()
    config = with_run(config, kind="gate")
    reference = config.reference.model_copy(update={"run": "last"})
    assert reference_rows(config.model_copy(update={"reference": reference})) == []


def test_an_aa_run_of_paths_that_are_not_equal_is_invalid_at_once(tmp_path: Path) -> None:
    with paper_paths() as servers:
        words = refused(with_run(paper_config(tmp_path, servers), kind="aa"))
    assert "only one of these drafts" in words


def test_the_last_passed_run_of_an_empty_store_is_a_note(tmp_path: Path) -> None:
    with paper_paths() as servers:
        config = paper_config(tmp_path, servers)
        reference = config.reference.model_copy(update={"run": "last"})
        outcome = run_gate(config.model_copy(update={"reference": reference}), SilentReporter())
    assert outcome.codes == {}
    assert any("no run has passed yet" in note for note in outcome.notes)


class Notes(SilentReporter):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


def test_turns_that_are_too_long_explain_why_fewer_are_sent(tmp_path: Path) -> None:
    notes = Notes()
    with paper_paths(Faults(drafts=K, max_model_len=165), Faults(max_model_len=165)) as servers:
        run_gate(paper_config(tmp_path, servers), notes)
    (line,) = [note for note in notes.said if "too long" in note]
    assert any(note.endswith("12 turns to replay") for note in notes.said)
    found = re.match(r"(\d+) of 12 turns are too long for the servers, so (\d+) are replayed", line)
    assert found is not None, line
    assert int(found[1]) + int(found[2]) == 12
    assert 0 < int(found[1]) < 12
