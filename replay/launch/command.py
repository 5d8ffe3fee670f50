"""The command line of a launched vLLM server.

python -m vllm.entrypoints.openai.api_server --model M --host 127.0.0.1 --port 40123 …
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from replay.launch.cpus import BIND
from replay.launch.draft_ids import plugin_environment
from traces.errors import ConfigError
from traces.journal.vllm_flags import parse_flags

MODULE = "vllm.entrypoints.openai.api_server"

OBSERVING_FLAGS = (
    "--enable-per-request-metrics",
    "--enable-prompt-tokens-details",
)
"""Both paths, attached ones too."""

LOGPROBS = "--logprobs-mode=processed_logprobs"
"""Both paths, where nothing is sampled. Processed logprobs are those the sampler saw, so that a
greedy token is their argmax even under penalties or a grammar; prompt logprobs stay raw in every
mode."""

DRAFTING_FLAG = "--per-request-spec-decode-metrics=detailed"
"""Only with a speculative config; vLLM refuses it without one."""

BATCHED_TOKENS = "2048"
"""vLLM computes the logits of all prompt rows of a prefill step at once when prompt logprobs are
asked for; this bounds their memory. Both paths get it, so that both prefill alike."""

OWNED_FLAGS = frozenset(
    {
        "--model",
        "--host",
        "--served-model-name",
        "--speculative-config",
        "--per-request-spec-decode-metrics",
    }
)


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server to launch. `name` is the path's (``baseline``, ``candidate``). `cpus` binds the
    OpenMP threads of vLLM's CPU backend (see `replay.launch.cpus`); None leaves the binding
    to vLLM. `flags` are vLLM's own, as on its command line; a ``--port`` among them is kept.
    `draft_ids` loads the plugin that adds them to answers (`replay.launch.draft_ids`).
    """

    name: str
    model: str
    flags: tuple[str, ...] = ()
    speculative_config: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    served_model_name: str = ""
    start_timeout_s: float = 600.0
    cpus: tuple[int, ...] | None = None
    draft_ids: bool = False

    @property
    def model_name(self) -> str:
        """What requests call the model."""
        return self.served_model_name or self.model


def server_command(spec: ServerSpec, port: int) -> list[str]:
    """The whole command line. Raises ConfigError for a flag that draftgate sets itself."""
    given = parse_flags(spec.flags)
    for name in sorted(OWNED_FLAGS & given.keys()):
        raise ConfigError(
            f"path {spec.name}: the flag {name} is set by draftgate",
            "take it out of `flags`; model, served_model_name and speculative_config have keys",
        )
    command = [spec.python or sys.executable, "-m", MODULE, "--model", spec.model]
    command += ["--served-model-name", spec.model_name, "--host", "127.0.0.1"]
    if "--port" not in given:
        command += ["--port", str(port)]
    if "--max-num-batched-tokens" not in given:
        command += ["--max-num-batched-tokens", BATCHED_TOKENS]
    wanted = (*OBSERVING_FLAGS, LOGPROBS)
    command += [flag for flag in wanted if flag.split("=")[0] not in given]
    command += spec.flags
    if spec.speculative_config:
        command += ["--speculative-config", orjson.dumps(dict(spec.speculative_config)).decode()]
        command.append(DRAFTING_FLAG)
    return command


def server_environment(spec: ServerSpec) -> dict[str, str]:
    """This process's environment with the server's settings laid over it."""
    offline = {"HF_HUB_OFFLINE": "1"} if Path(spec.model).is_dir() else {}
    bind = {BIND: ",".join(map(str, spec.cpus))} if spec.cpus else {}
    own = {"VLLM_NO_USAGE_STATS": "1", "PYTHONUNBUFFERED": "1", **offline, **bind}
    environment = {**own, **os.environ, **spec.env}
    return plugin_environment(environment) if spec.draft_ids else environment
