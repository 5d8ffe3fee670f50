"""A faulty target: `python -m models.perturbed OUT [--layer 3] [--noise 0.3]`.

A copy of the committed target in which one layer's MLP output has noise of the given share of its
own size. Served as the candidate, it must fail the gate.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

TARGET = Path(__file__).parent / "weights" / "target"


def write(out: Path, layer: int, noise: float, source: Path = TARGET) -> None:
    """The same perturbation for the same arguments; KeyError for a layer that is not there."""
    path = source / "model.safetensors"
    weights = load_file(path)
    name = f"model.layers.{layer}.mlp.down_proj.weight"
    weight = weights[name].float()
    drawn = torch.randn(weight.shape, generator=torch.Generator().manual_seed(layer))
    weights[name] = (weight + noise * weight.std() * drawn).to(torch.bfloat16)
    shutil.copytree(source, out, dirs_exist_ok=True)
    save_file(weights, out / "model.safetensors", {"format": "pt"})
    os.chmod(out / "model.safetensors", 0o644)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layer", type=int, default=3)
    parser.add_argument("--noise", type=float, default=0.3)
    arguments = parser.parse_args()
    write(arguments.out, arguments.layer, arguments.noise)


if __name__ == "__main__":
    main()
