"""The scripts that gate real weights, real faults and the baseline against itself."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.paper.gate import paper_config, paper_paths

pytest.importorskip("torch", reason="the scripts make weights")

from checks.controls.duplicate import DUPLICATE
from checks.controls.finish import FINISH
from checks.controls.tail import ARGUMENT_TAIL, TEXT_TAIL
from draftgate.config.file import read_config
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from evidence.attacks import planted
from evidence.live import (
    beginnings,
    chats,
    mtp,
    natural_noise,
    real_faults,
    sampled_noise,
    twins,
)
from evidence.live.results import HEAD, keep, result_of, shown
from replay.launch.command import ServerSpec
from traces.importing.importer import import_files


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    with paper_paths() as servers:
        config = paper_config(tmp_path_factory.mktemp("sound"), servers)
        return run_gate(config, SilentReporter())


def test_the_chats_are_sessions_that_can_be_replayed(tmp_path: Path) -> None:
    file = chats.write(tmp_path / "chats.jsonl")
    sessions = [s for source in import_files([str(file)]) for s in source.sessions]
    assert [len(list(s.replayable_turns())) for s in sessions] == [4] * 24


def test_beginnings_keep_the_first_turns_of_every_session(tmp_path: Path) -> None:
    file = beginnings.write(tmp_path / "short.jsonl", turns=2)
    short = [s for source in import_files([str(file)]) for s in source.sessions]
    whole = [s for source in import_files(beginnings.SAMPLES) for s in source.sessions]
    assert [s.session_id for s in short] == [s.session_id for s in whole]
    for cut, full in zip(short, whole, strict=True):
        assert cut.turns == tuple(full.replayable_turns())[:2]
        assert cut.prefix(cut.turns[1]) == full.prefix(cut.turns[1])


@pytest.mark.parametrize("name", list(twins.GATES))
def test_a_twin_is_an_aa_run_without_a_drafter(name: str) -> None:
    gate = twins.GATES[name]
    config = twins.twin_config(gate, ["http://a", "http://b"])
    assert config.candidate.speculative_config == {}
    assert config.run.kind == "aa"
    assert ("PATHS_DIFFER" in config.policy.severity) == (len(set(gate.modes)) > 1)
    assert (config.baseline.urls, config.candidate.urls) == (("http://a",), ("http://b",))


def test_a_mode_is_the_servers_flags_without_eager_and_with_its_own() -> None:
    config = read_config(twins.PAIR)
    assert twins.EAGER in config.server.flags
    assert twins.EAGER not in twins.spec(config, twins.COMPILED).flags
    assert twins.spec(config, (twins.EAGER, twins.COLD)).flags[-2:] == (twins.EAGER, twins.COLD)


def test_other_flags_replace_those_of_the_same_name() -> None:
    spec = ServerSpec("x", "model", ("--dtype", "bfloat16", "--enforce-eager"))
    assert real_faults.with_flags(spec, {"--dtype": "float32", "--kv-cache-dtype": "fp8"}) == (
        "--dtype",
        "float32",
        "--enforce-eager",
        "--kv-cache-dtype",
        "fp8",
    )


def test_an_eagle_3_head_is_the_same_without_its_two_flags(tmp_path: Path) -> None:
    from safetensors import safe_open

    head = real_faults.plain_head(tmp_path / "head")
    config = json.loads((head / "config.json").read_text())
    assert (config["fc_norm"], config["norm_output"]) == (False, False)
    with (
        safe_open(head / "model.safetensors", "pt") as now,
        safe_open(real_faults.DRAFTER / "model.safetensors", "pt") as before,
    ):
        lost = set(before.keys()) - set(now.keys())
        assert lost
        assert all(name.startswith("fc_norm") for name in lost)


def test_every_case_names_a_reference_that_runs_before_it() -> None:
    names = list(real_faults.CASES)
    for place, case in enumerate(real_faults.CASES.values()):
        assert not case.reference or case.reference in names[:place]


@pytest.mark.parametrize("kind", ["ngram", "draft"])
def test_the_configuration_of_the_real_weights_is_valid(kind: str) -> None:
    speculative = natural_noise.drafter(kind, natural_noise.HOME / "smollm2")
    config = read_config(natural_noise.CONFIG, {"candidate": {"speculative_config": speculative}})
    assert config.candidate.speculative_config["num_speculative_tokens"] == 3


def test_a_run_becomes_a_row(sound: GateOutcome, tmp_path: Path) -> None:
    result = result_of("a sound pair", sound)
    assert (result.verdict, result.codes, result.broken, result.undecided) == ("pass", (), (), ())
    assert (result.forks, result.hard, result.again, result.largest) == (0, 0, 0, 0.0)
    assert result.acceptance is not None
    assert result.acceptance > 1
    head, _, row = shown([result]).splitlines()
    assert head.count("|") == row.count("|") == len(HEAD) + 1
    assert row.startswith("| a sound pair | `pass` | none | none | none |")
    keep(result, tmp_path / "rows" / "kept.jsonl")
    assert json.loads((tmp_path / "rows" / "kept.jsonl").read_text())["verdict"] == "pass"


def test_every_planted_fault_is_caught_wherever_a_turn_lends_itself(sound: GateOutcome) -> None:
    pairs = planted.pairs_of(sound.folder)
    assert len(pairs) == 96
    for control in (TEXT_TAIL, ARGUMENT_TAIL, FINISH, DUPLICATE):
        found = planted.plant(control, pairs)
        assert found.lends.sum() > 10, control.kind
        assert (found.caught == found.lends).all(), control.kind


def test_the_wait_for_a_planted_fault_is_geometric() -> None:
    # Every second turn lends itself, one in two of these is hit: a quarter, so the median wait is
    # ln 0.5 / ln 0.75 = 2.4 turns of 10 tokens.
    every_second = np.array([True, False] * 4)
    fault = planted.Planted(FINISH, every_second, every_second, np.full(8, 10))
    assert planted.predicted(fault, 0.5) == pytest.approx(24.1, abs=0.1)
    waits = [planted.wait(fault, 0.5, seed) for seed in range(400)]
    assert np.median(waits) in (20, 30)
    assert np.mean(waits) == pytest.approx(40, rel=0.2)


@pytest.mark.parametrize("name", list(real_faults.CASES))
def test_the_gate_is_given_the_drafter_that_the_candidate_runs(name: str) -> None:
    """Given another, it finds that no turn's steps add up, and measures no acceptance."""
    case = real_faults.CASES[name]
    drafter = {"method": "ngram", "num_speculative_tokens": 2}
    settings = real_faults.overrides(case, ("http://a", "http://b"), drafter, {})
    assert read_config(Path("gate.toml"), settings).candidate.speculative_config == drafter


def test_every_sampled_chat_asks_for_the_same_distribution(tmp_path: Path) -> None:
    file = sampled_noise.write_sampled(tmp_path / "sampled.jsonl")
    sessions = [s for source in import_files([str(file)]) for s in source.sessions]
    assert len(sessions) == 24
    assert all(
        turn.sampling == sampled_noise.SAMPLING
        for session in sessions
        for turn in session.replayable_turns()
    )


def test_the_draft_layer_of_mtp_shares_nothing_and_its_block_adds_nothing() -> None:
    import torch
    from safetensors.torch import load_file

    state = load_file(mtp.TARGET / "model.safetensors")
    made = mtp.with_draft_layer(state, torch.eye(256, 512))
    assert len({weight.data_ptr() for weight in made.values()}) == len(made)
    assert all(made[name] is weight for name, weight in state.items())
    added = [weight for name, weight in made.items() if name.endswith(".bias")]
    silent = [
        made[mtp.LAYER + name] for name in ("self_attn.o_proj.weight", "mlp.down_proj.weight")
    ]
    assert len(added) == 3 * (6 + 1)
    assert not any(weight.any() for weight in (*added, *silent))
