"""Targets with heavy-tailed noise: known by their configuration, measured in verify shape."""

from dataclasses import replace
from typing import Any

import pytest

from checks.greedy.judge import judge_greedy
from checks.greedy.noise import heavy_tails
from checks.greedy.turn import GreedyTurn, measure_turn
from checks.policy import Policy
from tests.support.synthetic_model import SyntheticModel, gaussian, greedy_pool, scored

POLICY = Policy(rate_margin=2e-3)
LOUD = gaussian(0.6)
MODEL = SyntheticModel(noise={("candidate", "decode"): LOUD, ("verify", "decode"): LOUD})


def verified(turn: GreedyTurn) -> GreedyTurn:
    """The turn with the target's capture in verify shape, scored where it parts."""
    prompt = turn.baseline.prompt_token_ids or ()
    verify = MODEL.stream(prompt, 48, "verify")
    return replace(turn, verify=verify, scored_verify=scored(MODEL, verify))


@pytest.fixture(scope="module")
def pool() -> list[GreedyTurn]:
    """Verification rounds, decoding does not: the baseline's repeat shows none of it."""
    return greedy_pool(MODEL, sessions=24, turns=3, length=48)


def test_noise_of_verification_alone_fails_without_its_floor(pool: list[GreedyTurn]) -> None:
    judged = judge_greedy(pool, POLICY, seed=0)
    assert "fail" in {bound.state for bound in judged.bounds}


def test_with_its_floor_it_does_not(pool: list[GreedyTurn]) -> None:
    judged = judge_greedy([verified(turn) for turn in pool], POLICY, seed=0)
    assert "fail" not in {bound.state for bound in judged.bounds}
    assert judged.rate is not None
    assert judged.rate.noise_exceedances > 0
    (noise,) = [bound for bound in judged.bounds if bound.name == "noise_floor"]
    assert "in verify shape" in noise.message


def test_a_fault_beyond_that_floor_fails_all_the_same(pool: list[GreedyTurn]) -> None:
    wild = SyntheticModel(noise={("candidate", "decode"): gaussian(3.0)})
    faulty = [
        replace(verified(turn), candidate=candidate, scored_candidate=scored(wild, candidate))
        for turn in pool
        for candidate in [wild.stream(turn.baseline.prompt_token_ids or (), 48, "candidate")]
    ]
    judged = judge_greedy(faulty, Policy(rate_margin=2e-3, noise_tails="heavy"), seed=0)
    assert {f.code for f in judged.findings if f.severity == "error"} == {"REGRET_RATE"}


def test_every_token_in_verify_shape_is_noise_once(pool: list[GreedyTurn]) -> None:
    turn = verified(pool[0])
    parts = measure_turn(replace(turn, scored_baseline=None)).noise
    assert sum(len(part) for part in parts) == 48
    assert [part.start for part in parts] == [0, len(parts[0])][: len(parts)]
    assert {part.shape for part in parts} <= {"decode", "prefill"}


def test_a_token_that_verification_itself_gives_condemns_nobody(pool: list[GreedyTurn]) -> None:
    """An expert flips whenever the token is verified, in the candidate and in the floor alike."""
    quiet = SyntheticModel()
    found = next(t for t in pool if _hard_fork(t))
    same = replace(found, verify=found.candidate, scored_verify=scored(quiet, found.candidate))
    assert judge_greedy([found], POLICY, 0).turns[0].hard
    judged = judge_greedy([same], POLICY, 0).turns[0]
    assert judged.hard == ()
    assert judged.fork is not None
    assert judged.fork.kind in ("excused", "near_tie")


def _hard_fork(turn: GreedyTurn) -> bool:
    judged = judge_greedy([turn], POLICY, 0).turns[0]
    return judged.fork is not None and judged.fork.index in judged.hard


# What a target's configuration says.

KIMI_K2 = {"model_type": "kimi_k2", "n_routed_experts": 384, "num_experts_per_tok": 8}
QWEN3_MOE = {"model_type": "qwen3_moe", "num_experts": 128}
MIXTRAL = {"model_type": "mixtral", "num_local_experts": 8}
NESTED = {"model_type": "kimi_k25", "text_config": KIMI_K2, "vision_config": {}}
FP8 = {"model_type": "llama", "quantization_config": {"quant_method": "fp8"}}
NVFP4 = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}
COMPRESSED = {
    "quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized"}
}
AWQ = {"model_type": "llama", "quantization_config": {"quant_method": "awq", "bits": 4}}
DENSE = {"model_type": "llama", "torch_dtype": "bfloat16", "num_hidden_layers": 32}
ONE_EXPERT = {"model_type": "x", "num_local_experts": 1, "dtype": "float16"}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (KIMI_K2, "n_routed_experts is 384"),
        (QWEN3_MOE, "num_experts is 128"),
        (MIXTRAL, "num_local_experts is 8"),
        (NESTED, "n_routed_experts is 384"),
        (FP8, "says fp8"),
        (NVFP4, "says NVFP4"),
        (COMPRESSED, "says float-quantized"),
    ],
)
def test_experts_and_few_bits_are_heavy(config: dict[str, Any], words: str) -> None:
    assert words in (heavy_tails(config, {}) or "")


@pytest.mark.parametrize("config", [AWQ, DENSE, ONE_EXPERT, {}])
def test_dense_targets_are_light(config: dict[str, Any]) -> None:
    assert heavy_tails(config, {}) is None


def test_a_dense_target_quantized_while_it_is_served_is_heavy() -> None:
    assert "--quantization fp8" in (heavy_tails(DENSE, {"--quantization": ("fp8",)}) or "")
    assert heavy_tails(DENSE, {"--quantization": ("awq",)}) is None
