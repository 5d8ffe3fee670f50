"""Multi-token prediction on real vLLM: the embedded target in the shape of a model that has it.

    python -m evidence.live.mtp

vLLM finds the draft layer of MTP in the target's own checkpoint. The embedded target becomes a MiMo
checkpoint: its own weights (MiMo is Qwen 2, which is Llama with biases, here zero) and one draft
layer, a linear map from a token's final state and the next token's embedding to the next state,
fitted by least squares. Nothing is wrong with it, so a `fail` is a false alarm.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from draftgate.config.file import read_config
from draftgate.progress import reporter
from draftgate.run.gate import run_gate
from evidence.live import beginnings
from evidence.live.results import keep, result_of, shown
from models.checkpoint import load_target, write_json, write_weights
from models.llama import Llama
from models.target import Phase, batches

HOME = Path(".draftgate/evidence")
TARGET = Path("models/weights/target")
TEXT = Phase("fit", 24, 4, 512, (1, 1), 0.0, offers=False)
BIASED = ("q_proj", "k_proj", "v_proj")
LAYER = "model.mtp_layers.0."


def checkpoint(folder: Path) -> Path:
    """The MiMo checkpoint in `folder`, written anew (seconds)."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TARGET, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {
        "architectures": ["MiMoForCausalLM"],
        "model_type": "qwen2",
        "num_nextn_predict_layers": 1,
        "tie_word_embeddings": False,
    }
    write_json(folder / "config.json", config)
    state = load_file(TARGET / "model.safetensors")
    words = PreTrainedTokenizerFast.from_pretrained(TARGET)
    write_weights(folder / "model.safetensors", with_draft_layer(state, fitted(words)))
    return folder


def with_draft_layer(state: dict[str, Tensor], projection: Tensor) -> dict[str, Tensor]:
    """MiMo's weights: the target's, biases of zero, its head, and one draft layer.

    The layer's transformer block adds nothing, since what it writes is zero: `projection`
    [hidden, 2 hidden] decides alone.
    """
    biases = {
        name.replace(".weight", ".bias"): torch.zeros(weight.shape[0])
        for name, weight in state.items()
        if any(part in name for part in BIASED)
    }
    block = "model.layers.0."
    copied = {
        name.replace(block, LAYER): weight.clone()
        for name, weight in (state | biases).items()
        if name.startswith(block)
    }
    for silent in ("self_attn.o_proj.weight", "mlp.down_proj.weight"):
        copied[LAYER + silent] = torch.zeros_like(copied[LAYER + silent])
    ones = torch.ones(projection.shape[0])
    return {
        **state,
        **biases,
        **copied,
        "lm_head.weight": state["model.embed_tokens.weight"].clone(),
        LAYER + "token_layernorm.weight": ones,
        LAYER + "hidden_layernorm.weight": ones.clone(),
        LAYER + "input_proj.weight": projection,
        LAYER + "final_layernorm.weight": state["model.norm.weight"].clone(),
    }


def fitted(words: PreTrainedTokenizerFast) -> Tensor:
    """[hidden, 2 hidden]: (state of token t, embedding of token t + 1) -> state of token t + 1."""
    target = load_target(TARGET)
    width = 2 * target.shape.hidden_size
    gram, moment = torch.zeros(width, width), torch.zeros(width, target.shape.hidden_size)
    with torch.no_grad():
        for ids, _, _ in batches(words, TEXT, "mtp", 0):
            known, wanted = rows(target, ids)
            gram += known.T @ known
            moment += known.T @ wanted
    ridge = 1e-3 * gram.diagonal().mean() * torch.eye(width)
    return torch.linalg.solve(gram + ridge, moment).T


def rows(target: Llama, ids: Tensor) -> tuple[Tensor, Tensor]:
    """What the draft layer reads and what it should write, one row per token but the last."""
    _, (stream,) = target(ids, captured=(target.shape.num_hidden_layers,))
    states, embedded = scaled(stream), scaled(target.model.embed_tokens(ids))
    known = torch.cat([states[:, :-1], embedded[:, 1:]], -1)
    return known.flatten(0, 1), states[:, 1:].flatten(0, 1)


def scaled(x: Tensor) -> Tensor:
    """Rows of mean square one, as an RMS norm with weight one gives them."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def main() -> int:
    """0 where the run did not fail."""
    sessions = beginnings.write(HOME / "beginnings.jsonl", turns=2)
    settings: dict[str, dict[str, Any]] = {
        "run": {"sessions": [str(sessions)], "max_tokens": 128},
        "server": {"model": str(checkpoint(HOME / "mimo"))},
        "candidate": {"speculative_config": {"method": "mtp", "num_speculative_tokens": 1}},
    }
    outcome = run_gate(read_config(Path("gate.toml"), settings), reporter())
    outcome.print_summary()
    result = result_of("MTP (a draft layer in the target's checkpoint), nothing wrong", outcome)
    keep(result, HOME / "mtp.jsonl")
    print(shown([result]))
    return int(result.verdict in ("fail", "invalid"))


if __name__ == "__main__":
    sys.exit(main())
