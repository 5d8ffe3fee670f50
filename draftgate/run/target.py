"""What the configuration, the servers and this machine know of the target and its drafter."""

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checks.acceptance.drafting import Drafting
from checks.greedy.noise import heavy_tails
from checks.request import processes_logits
from checks.sessions.evidence import RunFacts, ServerFacts
from draftgate.config.config import Config
from draftgate.run.arms import further_arms
from draftgate.run.paths import server_spec
from replay.launch.drafter import read_drafter
from replay.sending.job import Job
from traces.journal.arm import Arm
from traces.journal.drafter_configs import DrafterConfigs
from traces.journal.path_facts import PathFacts
from traces.journal.served_parsers import ServedParsers, resolve_parsers
from traces.journal.vllm_flags import parse_flags

Servers = Mapping[str, Sequence[PathFacts]]
"""What every server of a path says of itself."""

UNKNOWN = (
    "tails of the target's rounding noise: its config.json is not at hand, so one token far beyond "
    "the noise keeps the run open and does not fail it; under [policy] set `noise_tails` to "
    '"light" for a dense target, to "heavy" for MoE, FP8 and NVFP4'
)


@dataclass(frozen=True, slots=True)
class Settled:
    """A configuration whose `policy.noise_tails` is ``auto`` only where the target's own config is
    not at hand; and why it is so."""

    config: Config
    notes: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()


def settle_noise_tails(config: Config, servers: Servers) -> Settled:
    """Replace ``auto`` by ``light`` or ``heavy``, by the target's own config if it is at hand."""
    if config.policy.noise_tails != "auto":
        return Settled(config)
    target = target_config(_model(config, servers))
    flags = parse_flags((*config.server.flags, *config.baseline.flags))
    reason = heavy_tails(target or {}, flags)
    if reason is None and target is None:
        return Settled(config, unverified=(UNKNOWN,))
    tails = "light" if reason is None else "heavy"
    policy = config.policy.model_copy(update={"noise_tails": tails})
    settled = config.model_copy(update={"policy": policy})
    if reason is not None:
        note = f"the target is {reason}: its noise has heavy tails, so no single token condemns"
        return Settled(settled, notes=(note,))
    return Settled(settled)


LOGPROBS_MODE = "--logprobs-mode"
RAW = "raw_logprobs"


def settle_logprobs_mode(config: Config, jobs: Sequence[Sequence[Job]]) -> Config:
    """Launched servers report raw log probabilities where a turn is sampled.

    Processed ones keep vLLM from its fast top-p and top-k sampler, which users run; greedy turns
    go through no sampler, and processed ones show them what penalties and grammars did. So the
    share that the gate itself samples asks for raw ones only where no turn and no arm has any of
    these. A mode that the configuration names stands.
    """
    flags = (*config.server.flags, *config.baseline.flags, *config.candidate.flags)
    requests = [job.request for session in jobs for job in session]
    grammar = any(arm.grammar for arm in further_arms(config))
    sampled = any(float(request.get("temperature") or 0) > 0 for request in requests)
    if config.run.sampled_share and any(r.get("temperature") is None for r in requests):
        sampled = sampled or not (grammar or any(map(processes_logits, requests)))
    if not config.server.model or not sampled or LOGPROBS_MODE in parse_flags(flags):
        return config
    server_flags = (*config.server.flags, f"{LOGPROBS_MODE}={RAW}")
    server = config.server.model_copy(update={"flags": server_flags})
    return config.model_copy(update={"server": server})


GENERATION = "generation_config.json"
VLLM_SAMPLING: Mapping[str, float | int] = {"temperature": 1.0, "top_p": 1.0, "top_k": 0}
"""vLLM's own defaults (`chat_completion/protocol.py`, `_DEFAULT_SAMPLING_PARAMS`)."""


def settle_sampling(begun: Settled, servers: Servers) -> Settled:
    """Besides what is settled: `run.temperature`, `run.top_p` and `run.top_k` as numbers; what is
    left out comes from the model under ``model``, and is off beside a number.

    A model whose own configuration is greedy has no sampler to look at: its share is 0.
    """
    config, run = begun.config, begun.config.run
    if not run.sampled_share:
        return begun
    source = "set in [run]"
    found = {**VLLM_SAMPLING}
    if run.temperature == "model":
        said, source = generation_config(config, servers)
        found |= {key: said[key] for key in found if isinstance(said.get(key), (int, float))}
    else:
        found["temperature"] = run.temperature
    found |= {key: value for key in ("top_p", "top_k") if (value := getattr(run, key)) is not None}
    found["top_k"] = max(int(found["top_k"]), 0)
    if found["temperature"] <= 0:
        settled = run.model_copy(update={"sampled_share": 0.0})
        note = f"no turn is sampled besides: the temperature is 0, {source}"
    else:
        settled = run.model_copy(update=found)
        shown = ", ".join(f"{name} {value:g}" for name, value in found.items())
        note = f"turns sampled besides their greedy replay: {shown}, {source}"
    config = config.model_copy(update={"run": settled})
    return replace(begun, config=config, notes=(*begun.notes, note))


def generation_config(config: Config, servers: Servers) -> tuple[Mapping[str, Any], str]:
    """What vLLM samples with where a request says nothing, as far as this machine knows, and where
    that comes from: ``--override-generation-config`` over the file that ``--generation-config``
    names, by default the model's own."""
    flags = parse_flags((*config.server.flags, *config.baseline.flags))
    where = " ".join(flags.get("--generation-config", ())) or "auto"
    model = _model(config, servers) if where == "auto" else where
    held = None if where == "vllm" else _json_file(model, GENERATION)
    over = _as_object(" ".join(flags.get("--override-generation-config", ())))
    source = f"as vLLM reads {GENERATION}"
    if held is None:
        why = "as launched" if where == "vllm" else f"{GENERATION} is not at hand"
        source = f"vLLM's own defaults ({why})"
    return {**(held or {}), **(over or {})}, source + (" and the flags" if over else "")


def _model(config: Config, servers: Servers) -> str:
    """Folder or name of the target: the configuration's, else what the baseline's server says."""
    if config.server.model:
        return config.server.model
    said = [*servers.get("baseline", ()), *servers.get("candidate", ())]
    roots = [model.root for server in said for model in server.models or () if model.root]
    return roots[0] if roots else ""


def target_config(model: str) -> Mapping[str, Any] | None:
    """``config.json`` of a model folder, or of a named model that was downloaded before."""
    return _json_file(model, "config.json")


def _json_file(model: str, name: str) -> Mapping[str, Any] | None:
    """An object in a file of a model folder, or of a named model that was downloaded before."""
    file = Path(model) / name if model else None
    if file is not None and not file.is_file():
        file = _cached(model, name)
    if file is None:
        return None
    try:
        return _as_object(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _as_object(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _cached(model: str, name: str) -> Path | None:
    """The file in the local cache of the Hugging Face hub; nothing is downloaded."""
    try:
        hub: Any = importlib.import_module("huggingface_hub")
        file = hub.try_to_load_from_cache(model, name)
    except (ImportError, ValueError):
        return None
    return Path(file) if isinstance(file, str) else None


def read_drafter_configs(config: Config) -> DrafterConfigs:
    """Both configs of a launched candidate's drafter; nothing is known of an attached one."""
    return (
        DrafterConfigs()
        if config.candidate.urls
        else read_drafter(server_spec(config, "candidate"))
    )


def server_facts(config: Config, servers: Servers) -> ServerFacts:
    """What pairs need to know of the servers, as far as they say it."""
    first = servers["candidate"][0]
    model = first.models[0] if first.models else None
    return ServerFacts(
        eos=eos_strings(config.server.model),
        block_size=first.block_size,
        max_model_len=model.max_model_len if model else None,
    )


def eos_strings(model: str) -> tuple[str, ...]:
    """EOS strings of a local model's tokenizer; empty for a model that is not a local folder."""
    file = Path(model) / "tokenizer_config.json"
    try:
        settings: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    token = settings.get("eos_token") if isinstance(settings, dict) else None
    text = token.get("content") if isinstance(token, dict) else token
    return (text,) if isinstance(text, str) and text else ()


def served_parsers(config: Config, servers: Servers) -> dict[str, ServedParsers]:
    """By path: what `[run]` names, else what its servers were launched with, else what they say."""
    named = ServedParsers(config.run.tool_parser, config.run.reasoning_parser, config.run.tokenizer)
    flags = {"baseline": config.baseline.flags, "candidate": config.candidate.flags}
    return {
        path: resolve_parsers(
            named, said, (*config.server.flags, *flags[path]), config.server.model
        )
        for path, said in servers.items()
    }


def run_facts(config: Config, run: str, servers: Servers, arms: tuple[Arm, ...]) -> RunFacts:
    """What the configuration and both paths' servers say of a run."""
    server = server_facts(config, servers)
    drafter = config.candidate.speculative_config
    return RunFacts(
        run=run,
        policy=config.policy,
        seed=config.run.seed,
        concurrency=config.run.concurrency,
        servers=servers,
        server=server,
        drafting=Drafting.from_config(drafter, server.max_model_len),
        served=served_parsers(config, servers),
        speculative_config=drafter,
        drafter_known=bool(drafter.get("model") or config.candidate.urls),
        arms=arms,
        kind=config.run.kind,
    )
