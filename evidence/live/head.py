"""An EAGLE 3.1 head for SmolLM2, trained by the script that made the embedded drafter.

Short on purpose: a gate must not care how good a drafter is. Its text is that of the embedded
pair's training; its target is SmolLM2.
"""

from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from models.checkpoint import load_target, save_drafter
from models.drafting import train
from models.llama import Shape
from models.target import Phase
from models.tokenizer import TEMPLATE

CAPTURED = (2, 15, 28)
PHASES = (Phase("short", 20, 1, 256, (1, 1), 0.0, offers=False),)


def trained_head(target: Path, folder: Path) -> Path:
    """The head in `folder`, trained first if it is not there (some minutes on two cores)."""
    if (folder / "config.json").exists():
        return folder
    torch.set_num_threads(2)
    words = PreTrainedTokenizerFast.from_pretrained(target)
    words.chat_template = TEMPLATE.read_text(encoding="utf-8")
    model = load_target(target)
    whole = model.shape
    shape = Shape(
        vocab_size=whole.vocab_size,
        hidden_size=whole.hidden_size,
        intermediate_size=whole.intermediate_size,
        num_hidden_layers=1,
        num_attention_heads=whole.num_attention_heads,
        num_key_value_heads=whole.num_attention_heads,
        rope_theta=whole.rope_theta,
    )
    head = train(words, model, shape, folder.with_suffix(".pt"), phases=PHASES, captured=CAPTURED)
    save_drafter(folder, head, whole.hidden_size, words)
    return folder
