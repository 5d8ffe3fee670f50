"""A copy of a checkpoint with noise in the matrices of one layer."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"


def perturbed_copy(source: Path, target: Path, layer: int, noise: float, seed: int = 0) -> None:
    """Copy the folder `source` to `target`, adding N(0, noise²) to every matrix of `layer`."""
    shutil.copytree(source, target)
    weights = load_file(target / WEIGHTS)
    generator = torch.Generator().manual_seed(seed)
    for name, weight in weights.items():
        if f".layers.{layer}." in name and weight.dim() == 2:
            added = torch.randn(weight.shape, generator=generator) * noise
            weights[name] = (weight.float() + added).to(weight.dtype)
    save_file(weights, target / WEIGHTS, metadata={"format": "pt"})
