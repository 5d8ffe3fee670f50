"""Draft ids of a launched server: what it is started with, and whether the plugin found its place.

The plugin itself runs inside vLLM (`replay/launch/vllm_plugin`).
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from replay.launch.vllm_plugin import draftgate_draft_ids as plugin
from traces.errors import ConfigError
from traces.journal.vllm_flags import parse_flags

FOLDER = Path(plugin.__file__).parent
NAME = "draftgate_draft_ids"
SYNCHRONOUS = "--no-async-scheduling"
"""Under asynchronous scheduling, vLLM's default on a GPU, the scheduler handles placeholders and
the drafts never leave the worker."""


def synchronous(name: str, flags: Sequence[str]) -> tuple[str, ...]:
    """A server's flags with `SYNCHRONOUS` among them. Raises ConfigError where they ask for
    asynchronous scheduling."""
    given = parse_flags(flags)
    if "--async-scheduling" in given:
        raise ConfigError(
            f"path {name}: `run.draft_ids` needs vLLM's synchronous scheduler, and `flags` ask for "
            "--async-scheduling",
            "take the flag out, or `draft_ids`",
        )
    return (*flags,) if SYNCHRONOUS in given else (*flags, SYNCHRONOUS)


def plugin_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """A server's environment in which vLLM finds the plugin; `VLLM_PLUGINS`, a list of those that
    may be loaded, is kept and gets its name."""
    path = [str(FOLDER), *filter(None, [environment.get("PYTHONPATH")])]
    found = {**environment, "PYTHONPATH": os.pathsep.join(path)}
    if "VLLM_PLUGINS" in environment:
        allowed = environment["VLLM_PLUGINS"].split(",")
        found["VLLM_PLUGINS"] = ",".join([*filter(None, allowed), NAME])
    return found


def refusal(log: str) -> str | None:
    """Why the plugin changed nothing, as it wrote in the server's log; None where it did not."""
    for line in log.splitlines():
        if plugin.REFUSED in line:
            return line.split(plugin.REFUSED, 1)[1].strip()
    return None
