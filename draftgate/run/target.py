"""Settling `policy.noise_tails` by the target's own configuration, where it is at hand."""

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checks.greedy.noise import heavy_tails
from draftgate.run.record import Record
from traces.journal.vllm_flags import parse_flags

UNKNOWN = (
    "tails of the target's rounding noise: its config.json is not at hand, light ones are assumed; "
    'set `noise_tails = "heavy"` under [policy] for MoE, FP8 and NVFP4 targets'
)


def settle_noise_tails(record: Record) -> None:
    """Replace ``auto`` in the record's policy by ``light`` or ``heavy``, and say why."""
    config = record.config
    if config.policy.noise_tails != "auto":
        return
    target = target_config(_model(record))
    flags = parse_flags((*config.server.flags, *config.baseline.flags))
    reason = heavy_tails(target or {}, flags)
    if reason is not None:
        record.notes.append(
            f"the target is {reason}: its noise has heavy tails, so no single token condemns"
        )
    elif target is None:
        record.unverified.append(UNKNOWN)
    settled = {"noise_tails": "light" if reason is None else "heavy"}
    policy = config.policy.model_copy(update=settled)
    record.config = config.model_copy(update={"policy": policy})


def _model(record: Record) -> str:
    """Folder or name of the target: the configuration's, else what the baseline's server says."""
    if record.config.server.model:
        return record.config.server.model
    facts = [*record.facts.get("baseline", ()), *record.facts.get("candidate", ())]
    roots = [model.root for server in facts for model in server.models or () if model.root]
    return roots[0] if roots else ""


def target_config(model: str) -> Mapping[str, Any] | None:
    """``config.json`` of a model folder, or of a named model that was downloaded before."""
    file = Path(model) / "config.json" if model else None
    if file is not None and not file.is_file():
        file = _cached(model)
    if file is None:
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _cached(model: str) -> Path | None:
    """The file in the local cache of the Hugging Face hub; nothing is downloaded."""
    try:
        hub: Any = importlib.import_module("huggingface_hub")
        file = hub.try_to_load_from_cache(model, "config.json")
    except (ImportError, ValueError):
        return None
    return Path(file) if isinstance(file, str) else None
