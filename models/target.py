"""Training of the target on generated sessions, in phases of growing context."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from transformers import PreTrainedTokenizerFast

from models import corpus, induction
from models.llama import Llama, Shape
from models.optimizer import Optimizers, trapezoid

PROMPT_SHARE = 0.2
"""Share of tokens not written by the assistant that are trained on as well."""


@dataclass(frozen=True, slots=True)
class Phase:
    """`steps` updates on `batch` rows of `length` tokens, `synthetic` of them span repeats.

    `offers`: whether the prompts list the agents' tool definitions.
    """

    name: str
    steps: int
    batch: int
    length: int
    parts: tuple[int, int]
    synthetic: float
    offers: bool = True


PHASES = (
    Phase("short", 400, 8, 512, (1, 1), 0.1, offers=False),
    Phase("medium", 400, 8, 1024, (1, 2), 0.1),
    Phase("long", 120, 4, 2048, (2, 4), 0.05),
    Phase("longest", 30, 2, 4096, (4, 8), 0.0),
)

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def batches(
    tokenizer: PreTrainedTokenizerFast, phase: Phase, seed: str, start: int
) -> Iterator[Batch]:
    """(ids, assistant mask, is-synthetic) per step, the same for the same seed and step."""
    chunk = 50
    for first in range(start - start % chunk, phase.steps, chunk):
        ids, masks = corpus.rows(
            tokenizer,
            f"{seed}-{phase.name}-{first}",
            phase.parts,
            phase.length,
            chunk * phase.batch,
            phase.offers,
        )
        rng = np.random.default_rng([first, phase.length])
        synthetic = rng.random(len(ids)) < phase.synthetic
        for row in np.flatnonzero(synthetic):
            ids[row], masks[row] = corpus.repeats(rng, len(tokenizer), phase.length)
        for step in range(max(first, start), min(first + chunk, phase.steps)):
            at = slice((step - first) * phase.batch, (step - first + 1) * phase.batch)
            yield (
                torch.from_numpy(ids[at].astype(np.int64)),
                torch.from_numpy(masks[at]),
                torch.from_numpy(synthetic[at]),
            )


def loss_of(model: Llama, batch: Batch, generator: torch.Generator) -> tuple[torch.Tensor, float]:
    """Mean cross entropy over chosen tokens, and that of the assistant's tokens alone."""
    ids, mask, synthetic = batch
    wanted = mask[:, 1:]
    other = (torch.rand(wanted.shape, generator=generator) < PROMPT_SHARE) & ~synthetic[:, None]
    chosen = wanted | other
    with torch.autocast("cpu", torch.bfloat16):
        hidden, _ = model(ids)
        logits = model.logits(hidden[:, :-1][chosen])
    losses = F.cross_entropy(logits.float(), ids[:, 1:][chosen], reduction="none")
    real = (wanted & ~synthetic[:, None])[chosen]
    return losses.mean(), losses.detach()[real].mean().item()


def train(
    tokenizer: PreTrainedTokenizerFast,
    shape: Shape,
    checkpoint: Path,
    seed: str = "train",
    phases: tuple[Phase, ...] = PHASES,
    save_every: int = 50,
) -> Llama:
    """The trained target; continues from `checkpoint` where it exists."""
    torch.manual_seed(0)
    model = Llama(shape)
    induction.initialize(model)
    optimizers = Optimizers(model, 0.02, 2e-3)
    done = 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizers.restore(saved["optimizers"])
        done = saved["step"]
    total = sum(phase.steps for phase in phases)
    before = 0
    for phase in phases:
        start = max(0, done - before)
        clock = time.monotonic()
        for offset, batch in enumerate(batches(tokenizer, phase, seed, start)):
            step = before + start + offset
            generator = torch.Generator().manual_seed(step)
            loss, real = loss_of(model, batch, generator)
            loss.backward()
            optimizers.step(trapezoid(step, total))
            if step % 10 == 0 or step + 1 == total:
                rate = (offset + 1) * batch[0].numel() / (time.monotonic() - clock)
                print(
                    f"target {phase.name} {step}/{total} loss {real:.3f} {rate:.0f} tok/s",
                    file=sys.stderr,
                    flush=True,
                )
            if (step + 1) % save_every == 0 or step + 1 == total:
                save(checkpoint, model, optimizers, step + 1)
        before += phase.steps
    return model


def save(path: Path, model: Llama, optimizers: Optimizers, step: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimizers": optimizers.state(), "step": step}
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)
