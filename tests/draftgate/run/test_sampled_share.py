"""Turns recorded without a temperature: replayed greedily, and a share of them sampled besides."""

import json
from pathlib import Path
from typing import Any

import pytest

from draftgate.config.config import Config
from draftgate.config.file import parse_config
from draftgate.progress import SilentReporter
from draftgate.run.arms import LEAST_SAMPLED, sampled_share
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.offline import judge_journals
from draftgate.run.outcome import GateOutcome
from draftgate.run.target import Settled, settle_logprobs_mode, settle_sampling
from replay.sending.job import Job
from tests.support.paper.gate import K, paper_config, paper_paths, rows
from tests.support.paper.model import HashedVocabulary
from tests.support.paper.server import Faults
from tests.support.paper.spoiled import torn_arguments
from tests.support.paper.stream import Stream
from traces.errors import ConfigError
from traces.journal.journal import JournalReader
from traces.journal.vllm_flags import parse_flags

TEMPERATURE = 0.8


def gate_with(
    folder: Path, share: float = 0.5, temperature: float = TEMPERATURE, **candidate: Any
) -> GateOutcome:
    """A gate over servers that draw where a turn is sampled."""
    faults = Faults(drafts=K, draws=True, **candidate)
    with paper_paths(faults, Faults(draws=True), HashedVocabulary()) as servers:
        config = paper_config(folder, servers)
        update = {"sampled_share": share, "temperature": temperature}
        run = config.run.model_copy(update=update)
        return run_gate(config.model_copy(update={"run": run}), SilentReporter())


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    return gate_with(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def hot(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    """The candidate draws at 1.5 times the temperature."""
    return gate_with(tmp_path_factory.mktemp("hot"), heat=1.5)


def states(outcome: GateOutcome) -> dict[str, str]:
    return {bound.name: bound.state for bound in outcome.verdict.bounds}


def test_a_sound_pair_passes_with_its_greedy_turns_and_the_share(sound: GateOutcome) -> None:
    assert sound.verdict.verdict == "pass", sound.verdict.reasons
    assert sound.codes == {}
    found = rows(sound, "select arm, turns, sessions from arms order by arm")
    assert [(row["arm"], row["turns"]) for row in found] == [("main", 96), ("sampled", 48)]
    assert found[1]["sessions"] > 20
    asked = "select distinct temperature from turns"
    assert rows(sound, asked) == [{"temperature": 0.0}]
    assert states(sound)["sampled_evidence"] == "pass"
    # So few tokens leave the difference open; turns that nobody asked for hold up nothing.
    assert states(sound)["sampled_excess_surprisal"] in ("pass", "not_applicable")


def test_what_was_sampled_is_said(sound: GateOutcome) -> None:
    (run,) = rows(sound, "select power, notes, scope from runs")
    assert (
        "48 turns recorded without a temperature were sampled besides, at temperature 0.8"
        in (run["power"])
    )
    assert (
        "turns sampled besides their greedy replay: temperature 0.8, top_p 1, top_k 0, set in"
        in (" ".join(run["notes"]))
    )
    (added,) = rows(sound, "from scope where slice = 'sampled (added)'")
    assert added["turns"] == 48
    assert f"sampled (added) {added['share']:.0%}" in run["scope"]
    (length,) = rows(sound, "from v_acceptance where arm = 'sampled'")
    assert length["steps"] > 0


def test_the_two_paths_are_sent_the_same_and_no_seed(sound: GateOutcome) -> None:
    folder = RunFolder(sound.folder)
    sent = {
        path: {
            (c.key.session, c.key.turn): c.request
            for c in JournalReader(folder.journal(path, "sampled"))
        }
        for path in ("baseline", "candidate")
    }
    assert sent["baseline"].keys() == sent["candidate"].keys()
    for request in sent["candidate"].values():
        assert (request["temperature"], request["top_p"], request["top_k"]) == (TEMPERATURE, 1.0, 0)
        assert "seed" not in request


def test_a_wrong_temperature_is_found_where_every_greedy_token_is_right(hot: GateOutcome) -> None:
    assert hot.verdict.verdict == "fail"
    assert hot.codes["SAMPLED_SHIFT"] >= 1
    assert states(hot)["greedy_regret_ladder"] == "pass"
    assert rows(hot, "from pairs where not equal and comparison = 'candidate'") == []


def test_journals_give_the_same_verdict_offline(hot: GateOutcome) -> None:
    folder = RunFolder(hot.folder)
    files = [folder.journal(path, "main") for path in ("candidate", "baseline")]
    again = judge_journals(files, None)
    assert (again.verdict.verdict, again.codes) == (hot.verdict.verdict, hot.codes)
    assert again.verdict.scope == hot.verdict.scope


def test_streams_of_the_share_pass_the_exact_checks(tmp_path: Path) -> None:
    def torn(stream: Stream, request: dict[str, Any]) -> None:
        if request.get("temperature"):
            torn_arguments(stream, request)

    outcome = gate_with(tmp_path, temperature=0.1, spoil=torn)
    assert "ARGS_NOT_JSON" in outcome.codes
    found = rows(outcome, "select distinct arm from findings where code = 'ARGS_NOT_JSON'")
    assert found == [{"arm": "sampled"}]


def test_without_a_share_nothing_is_sampled(tmp_path: Path) -> None:
    outcome = gate_with(tmp_path, share=0.0)
    assert rows(outcome, "select arm from arms") == [{"arm": "main"}]
    assert states(outcome)["sampled_evidence"] == "not_applicable"
    assert not RunFolder(outcome.folder).journal("candidate", "sampled").exists()


# Which turns.

SESSIONS = [[Job(f"s{s}", f"t{t}", {}) for t in range(4)] for s in range(100)]


def names(sessions: list[Any]) -> set[tuple[str, str]]:
    return {(job.session, job.turn) for session in sessions for job in session}


def test_the_turns_are_drawn_by_hash_over_many_sessions() -> None:
    drawn = sampled_share(SESSIONS, 0.1, seed=3)
    assert len(names(drawn)) == 40
    assert len(drawn) > 25
    assert names(sampled_share(SESSIONS[::-1], 0.1, seed=3)) == names(drawn)
    assert names(sampled_share(SESSIONS, 0.2, seed=3)) > names(drawn)
    assert names(sampled_share(SESSIONS, 0.1, seed=4)) != names(drawn)
    assert len(names(sampled_share(SESSIONS, 0.01, seed=3))) == LEAST_SAMPLED
    assert sampled_share(SESSIONS, 0.0, seed=3) == []


def test_turns_with_a_temperature_or_a_grammar_are_left_alone() -> None:
    jobs = [
        Job("s", "plain", {}),
        Job("s", "cold", {"temperature": 0}),
        Job("s", "warm", {"temperature": 0.7}),
        Job("s", "json", {"response_format": {"type": "json_object"}}),
        Job("s", "forced", {"tool_choice": "required"}),
        Job("s", "penalty", {"repetition_penalty": 1.1}),
    ]
    assert names(sampled_share([jobs], 1.0, seed=0)) == {("s", "plain")}


# At which temperature.


def settled(model: Path, *flags: str, **run: Any) -> Settled:
    config = parse_config(
        {
            "run": run,
            "server": {"model": str(model), "flags": list(flags)},
            "candidate": {"speculative_config": {"method": "ngram", "num_speculative_tokens": 3}},
        },
        "test",
    )
    return settle_sampling(Settled(config), {})


def sampling(found: Settled) -> tuple[Any, ...]:
    run = found.config.run
    return run.temperature, run.top_p, run.top_k


@pytest.fixture
def model(tmp_path: Path) -> Path:
    text = json.dumps({"temperature": 0.6, "top_p": 0.95, "top_k": 20, "do_sample": True})
    (tmp_path / "generation_config.json").write_text(text)
    return tmp_path


def test_the_models_own_sampling_is_the_default(model: Path) -> None:
    found = settled(model)
    assert sampling(found) == (0.6, 0.95, 20)
    assert found.notes == (
        "turns sampled besides their greedy replay: temperature 0.6, top_p 0.95, top_k 20, "
        "as vLLM reads generation_config.json",
    )


def test_a_number_stands_alone(model: Path) -> None:
    assert sampling(settled(model, temperature=0.3)) == (0.3, 1.0, 0)
    assert sampling(settled(model, temperature=0.3, top_p=0.9)) == (0.3, 0.9, 0)
    assert sampling(settled(model, top_k=5)) == (0.6, 0.95, 5)


@pytest.mark.parametrize(
    "text", [None, "{}", "not JSON", "[1]", '{"temperature": null, "top_k": -1}']
)
def test_without_values_vllms_own_count(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "generation_config.json").write_text(text)
    found = settled(tmp_path)
    assert sampling(found) == (1.0, 1.0, 0)
    if text in (None, "not JSON", "[1]"):
        assert "vLLM's own defaults" in found.notes[0]


def test_flags_of_the_servers_change_what_production_samples(model: Path, tmp_path: Path) -> None:
    override = '--override-generation-config={"temperature": 0.2}'
    assert sampling(settled(model, override)) == (0.2, 0.95, 20)
    assert sampling(settled(model, "--generation-config", "vllm")) == (1.0, 1.0, 0)
    other = tmp_path / "other"
    other.mkdir()
    (other / "generation_config.json").write_text('{"temperature": 0.9}')
    assert sampling(settled(model, f"--generation-config={other}")) == (0.9, 1.0, 0)


def test_a_model_that_is_greedy_by_itself_has_no_share(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text('{"temperature": 0.0}')
    found = settled(tmp_path)
    assert found.config.run.sampled_share == 0
    assert "no turn is sampled besides" in found.notes[0]


@pytest.mark.parametrize(
    "run",
    [
        {"temperature": 0},
        {"temperature": "warm"},
        {"top_p": 0},
        {"top_k": -1},
        {"sampled_share": 2},
    ],
)
def test_values_that_cannot_be_are_refused(tmp_path: Path, run: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        settled(tmp_path, **run)


def mode(config: Config, *requests: dict[str, Any]) -> tuple[str, ...]:
    jobs = [[Job("s", f"t{n}", request) for n, request in enumerate(requests)]]
    return parse_flags(settle_logprobs_mode(config, jobs).server.flags).get("--logprobs-mode", ())


def test_launched_servers_report_raw_logprobs_unless_a_greedy_turn_needs_processed_ones(
    tmp_path: Path,
) -> None:
    config = settled(tmp_path).config
    none = settled(tmp_path, sampled_share=0).config
    grammar = {"response_format": {"type": "json_object"}}
    assert mode(config, {}) == ("raw_logprobs",)
    assert mode(none, {}) == ()
    assert mode(config, {}, grammar) == ()
    assert mode(none, {}, grammar, {"temperature": 0.7}) == ("raw_logprobs",)
