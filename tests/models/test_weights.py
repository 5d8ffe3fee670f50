"""The committed weights are what the model card says."""

import json
import stat
from pathlib import Path

import pytest

from models import digests

MODELS = Path(__file__).resolve().parents[2] / "models"
WEIGHTS = MODELS / "weights"


def config_of(name):
    return json.loads((WEIGHTS / name / "config.json").read_text(encoding="utf-8"))


def test_files_have_the_recorded_digests():
    assert digests.recorded(WEIGHTS) == digests.computed(WEIGHTS)


@pytest.mark.parametrize("name", ["target", "drafter"])
def test_the_card_names_the_digest_of_the_weights(name):
    digest = digests.computed(WEIGHTS)[f"{name}/model.safetensors"]
    assert digest in (MODELS / "CARD.md").read_text(encoding="utf-8")


def test_weights_are_small_and_readable_by_all():
    files = list(WEIGHTS.rglob("*.safetensors"))
    assert len(files) == 2
    assert sum(f.stat().st_size for f in files) <= 25_000_000
    assert all(stat.S_IMODE(f.stat().st_mode) & 0o444 == 0o444 for f in files)


def test_the_drafter_is_eagle_3_1():
    drafter, target = config_of("drafter"), config_of("target")
    assert drafter["architectures"] == ["LlamaForCausalLMEagle3"]
    assert drafter["fc_norm"] is True
    assert drafter["norm_output"] is True
    assert drafter["num_hidden_layers"] == 1
    layers = drafter["eagle_aux_hidden_state_layer_ids"]
    assert len(layers) == 3
    assert all(0 <= layer <= target["num_hidden_layers"] for layer in layers)
    assert drafter["target_hidden_size"] == target["hidden_size"]
    assert drafter["draft_vocab_size"] == target["vocab_size"]


def test_the_drafter_has_one_norm_per_captured_layer():
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(WEIGHTS / "drafter" / "model.safetensors", "pt") as file:
        names = set(file.keys())
    assert {f"fc_norm.{i}.weight" for i in range(3)} <= names
    assert "embed_tokens.weight" not in names


def test_the_target_takes_real_sessions_and_fits_cpu_attention():
    target = config_of("target")
    assert target["architectures"] == ["LlamaForCausalLM"]
    assert target["max_position_embeddings"] >= 16384
    assert target["rope_theta"] >= 100_000
    assert target["head_dim"] in (32, 64, 80, 96, 112, 128)
