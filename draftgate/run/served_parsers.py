"""The parsers a path runs and its tokenizer, as far as they are known on this machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from draftgate.config.config import Config
from traces.journal.path_facts import PathFacts
from traces.journal.vllm_flags import parse_flags


@dataclass(frozen=True, slots=True)
class ServedParsers:
    """Names of the tool and the reasoning parser (`None`: none is known of), folder or name of the
    tokenizer, and the server's vLLM version where it says."""

    tool: str | None = None
    reasoning: str | None = None
    tokenizer: str = ""
    version: str | None = None


def served_parsers(config: Config, facts: Mapping[str, Sequence[PathFacts]]) -> ServedParsers:
    """What `[run]` names; else the flags of the launched candidate, or of `[server]`."""
    first = facts["candidate"][0]
    flags = parse_flags(first.command or (*config.server.flags, *config.candidate.flags))

    def flag(name: str) -> str | None:
        return next(iter(flags.get(name, ())), None)

    root = first.models[0].root if first.models else None
    local = root if root and Path(root).is_dir() else ""
    return ServedParsers(
        config.run.tool_parser or flag("--tool-call-parser"),
        config.run.reasoning_parser or flag("--reasoning-parser"),
        config.run.tokenizer or flag("--tokenizer") or config.server.model or local,
        first.version,
    )
