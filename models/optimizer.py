"""Muon for matrices, AdamW for embeddings and norms, one trapezoid schedule for both."""

from __future__ import annotations

import torch
from torch import nn


class Optimizers:
    """Steps both optimizers; `state` and `restore` make training resumable."""

    def __init__(self, module: nn.Module, matrix_rate: float, other_rate: float) -> None:
        named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
        matrices = [p for n, p in named if p.dim() == 2 and "embed" not in n and "lm_head" not in n]
        others = [p for n, p in named if not any(p is m for m in matrices)]
        self.parts = [
            torch.optim.Muon(matrices, lr=matrix_rate, momentum=0.95, weight_decay=0.01),
            torch.optim.AdamW(others, lr=other_rate, betas=(0.9, 0.98), weight_decay=0.0),
        ]
        self.rates = [matrix_rate, other_rate]
        self.parameters = [p for _, p in named]

    def step(self, factor: float) -> None:
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for part, rate in zip(self.parts, self.rates, strict=True):
            for group in part.param_groups:
                group["lr"] = rate * factor
            part.step()
            part.zero_grad(set_to_none=True)

    def state(self) -> list[dict]:
        return [part.state_dict() for part in self.parts]

    def restore(self, state: list[dict]) -> None:
        for part, saved in zip(self.parts, state, strict=True):
            part.load_state_dict(saved)


def trapezoid(step: int, total: int, warm: int = 40, cool: float = 0.35) -> float:
    """0 → 1 over `warm` steps, 1, then down to 0.03 over the last `cool` of all steps."""
    down = min(1.0, (total - step) / (cool * total))
    return min(1.0, (step + 1) / warm) * max(0.03, down)
