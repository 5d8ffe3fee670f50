"""Checkpoints that unmodified vLLM loads: bf16 safetensors, config, tokenizer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import PreTrainedTokenizerFast

from models.drafter import Drafter
from models.llama import Llama, Shape
from models.tokenizer import CONTEXT


def common(shape: Shape, tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    return shape.config() | {
        "model_type": "llama",
        "torch_dtype": "bfloat16",
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "max_position_embeddings": CONTEXT,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rope_theta},
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }


def write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def write_weights(path: Path, state: dict[str, torch.Tensor]) -> None:
    """safetensors creates files as 0600; others must read them."""
    save_file(
        {k: v.to(torch.bfloat16).contiguous() for k, v in state.items()}, path, {"format": "pt"}
    )
    os.chmod(path, 0o644)


def save_target(folder: Path, model: Llama, tokenizer: PreTrainedTokenizerFast) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = common(model.shape, tokenizer) | {
        "architectures": ["LlamaForCausalLM"],
        "tie_word_embeddings": True,
    }
    write_json(folder / "config.json", config)
    write_json(
        folder / "generation_config.json",
        {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id},
    )
    write_weights(folder / "model.safetensors", model.state_dict())
    tokenizer.save_pretrained(folder)


def save_drafter(
    folder: Path, drafter: Drafter, target_hidden: int, tokenizer: PreTrainedTokenizerFast
) -> None:
    """Without `embed_tokens`: vLLM then shares the target's."""
    folder.mkdir(parents=True, exist_ok=True)
    config = common(drafter.shape, tokenizer) | {
        "architectures": ["LlamaForCausalLMEagle3"],
        "tie_word_embeddings": False,
        "draft_vocab_size": drafter.shape.vocab_size,
        "target_hidden_size": target_hidden,
        "num_aux_hidden_states": len(drafter.captured),
        "eagle_aux_hidden_state_layer_ids": list(drafter.captured),
        "fc_norm": True,
        "norm_output": True,
    }
    write_json(folder / "config.json", config)
    write_weights(folder / "model.safetensors", drafter.state_dict())


def load_target(folder: Path) -> Llama:
    """The saved target in float32."""
    from safetensors.torch import load_file

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= config["rope_parameters"]
    shape = Shape(**{name: config[name] for name in Shape.__dataclass_fields__})
    model = Llama(shape)
    model.load_state_dict(
        {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    )
    return model
