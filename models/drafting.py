"""Training of the drafter against a frozen target."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from models.drafter import STEPS, Drafter, losses
from models.llama import Llama, Shape
from models.optimizer import Optimizers, trapezoid
from models.target import Phase, batches, save

CAPTURED = (1, 3, 5)
PHASES = (
    Phase("draft", 110, 8, 512, (1, 1), 0.0, offers=False),
    Phase("draft-tools", 40, 4, 1024, (1, 2), 0.0),
)
DECAY = 0.8
"""Weight of draft step s in the loss is DECAY**s."""


def train(
    tokenizer: PreTrainedTokenizerFast,
    target: Llama,
    shape: Shape,
    checkpoint: Path,
    seed: str = "drafter",
    phases: tuple[Phase, ...] = PHASES,
    captured: tuple[int, ...] = CAPTURED,
    save_every: int = 50,
) -> Drafter:
    """The trained drafter; continues from `checkpoint` where it exists."""
    torch.manual_seed(1)
    drafter = Drafter(shape, target.shape.hidden_size, captured)
    drafter.lm_head.weight.data.copy_(target.model.embed_tokens.weight.data)
    optimizers = Optimizers(drafter, 0.02, 1e-3)
    done = 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        drafter.load_state_dict(saved["model"])
        optimizers.restore(saved["optimizers"])
        done = saved["step"]
    total = sum(phase.steps for phase in phases)
    before = 0
    for phase in phases:
        start = max(0, done - before)
        clock = time.monotonic()
        for offset, (ids, mask, _) in enumerate(batches(tokenizer, phase, seed, start)):
            step = before + start + offset
            if not mask[:, STEPS + 2 :].any():
                # Rows may be cut before the first reply; a mean over nothing is not a number.
                continue
            made, hits = losses(drafter, target, ids, mask)
            sum(loss * DECAY**s for s, loss in enumerate(made)).backward()
            optimizers.step(trapezoid(step, total, warm=20))
            if step % 10 == 0 or step + 1 == total:
                rate = (offset + 1) * ids.numel() / (time.monotonic() - clock)
                shown = " ".join(f"{h:.3f}" for h in hits)
                print(
                    f"drafter {step}/{total} match {shown} {rate:.0f} tok/s",
                    file=sys.stderr,
                    flush=True,
                )
            if (step + 1) % save_every == 0 or step + 1 == total:
                save(checkpoint, drafter, optimizers, step + 1)
        before += phase.steps
    return drafter
