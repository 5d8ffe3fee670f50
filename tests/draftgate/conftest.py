"""A gate over the paper servers: quick, deterministic, and every fault can be had on demand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paper_model import Vocabulary
from paper_server import Faults, PaperServer, served
from recorded import write_sessions

from draftgate.config.config import Config, ReferenceSection
from draftgate.config.file import parse_config
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome

K = 3
LENIENT = {"rate_margin": 2.5e-3, "min_sessions": 2, "min_turns": 10, "success_margin": 0.2}
"""A policy that so few tokens can satisfy."""


@contextmanager
def paper_paths(
    candidate: Faults | None = None, baseline: Faults | None = None
) -> Iterator[tuple[PaperServer, PaperServer]]:
    """(baseline, candidate), running."""
    words = Vocabulary()
    candidate = candidate or Faults(drafts=K)
    servers = PaperServer(words, baseline or Faults()), PaperServer(words, candidate)
    with served(*servers):
        yield servers


def paper_config(folder: Path, servers: tuple[PaperServer, PaperServer], **policy: Any) -> Config:
    """A configuration that attaches to the servers and keeps everything below `folder`."""
    sessions = folder / "sessions.jsonl"
    if not sessions.exists():
        write_sessions(sessions, 24, 4)
    return parse_config(
        {
            "run": {
                "sessions": [str(sessions)],
                "output": str(folder / "out"),
                "db": str(folder / "store.duckdb"),
                "tool_parser": "hermes",
            },
            "baseline": {"urls": [servers[0].url]},
            "candidate": {
                "urls": [servers[1].url],
                "speculative_config": {"method": "eagle3", "num_speculative_tokens": K},
            },
            "policy": {**LENIENT, **policy},
        },
        "test",
    )


Gate = Callable[..., GateOutcome]


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Run a gate: ``gate(candidate=Faults(...), baseline=Faults(...), **policy)``."""

    def run(
        candidate: Faults | None = None,
        baseline: Faults | None = None,
        reference: str = "",
        **policy: Any,
    ) -> GateOutcome:
        with paper_paths(candidate, baseline) as servers:
            config = paper_config(tmp_path, servers, **policy)
            config = config.model_copy(update={"reference": ReferenceSection(run=reference)})
            return run_gate(config, SilentReporter())

    return run
