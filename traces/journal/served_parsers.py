"""The parsers a path runs and its tokenizer, as far as they are known on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traces.journal.path_facts import PathFacts
from traces.journal.vllm_flags import parse_flags

UNKNOWN = "plain"
"""Family of an output's markup where no tool-call parser is known."""


@dataclass(frozen=True, slots=True)
class ServedParsers:
    """Names of the tool and the reasoning parser (`None`: none is known of), folder or name of the
    tokenizer, and the server's vLLM version where it says."""

    tool: str | None = None
    reasoning: str | None = None
    tokenizer: str = ""
    version: str | None = None

    @property
    def family(self) -> str:
        """The parser that the output's markup is written for; ``plain`` where none is known."""
        return self.tool or UNKNOWN


def resolve_parsers(
    named: ServedParsers, servers: Sequence[PathFacts], flags: Sequence[str], model: str
) -> ServedParsers:
    """What the user has `named`; else what the servers' command line says; else the facts.

    `flags` and `model` are those of the configuration, used where no command line is known. A
    model's root counts as its tokenizer only where it is a folder of this machine.
    """
    first = servers[0]
    given = parse_flags(first.command or flags)

    def flag(name: str) -> str | None:
        return next(iter(given.get(name, ())), None)

    root = first.models[0].root if first.models else None
    local = root if root and Path(root).is_dir() else ""
    return ServedParsers(
        named.tool or flag("--tool-call-parser"),
        named.reasoning or flag("--reasoning-parser"),
        named.tokenizer or flag("--tokenizer") or model or local,
        first.version,
    )
