"""A gate over the paper servers: quick, deterministic, and every fault can be had on demand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from draftgate.config.config import Config
from draftgate.config.file import parse_config
from draftgate.run.outcome import GateOutcome
from reports.store.store import Store
from tests.support.paper.model import Vocabulary
from tests.support.paper.server import Faults, PaperServer, served
from tests.support.paper.sessions import write_sessions

STAND_IN = Path(__file__).parent / "stand_in"
"""A `vllm` package whose server is the paper server."""

K = 3
LENIENT = {
    "rate_margin": 2.5e-3,
    "min_sessions": 2,
    "min_turns": 10,
    "success_margin": 0.2,
    "call_margin": 0.3,
}
"""A policy that so few tokens can satisfy."""


@contextmanager
def paper_paths(
    candidate: Faults | None = None,
    baseline: Faults | None = None,
    words: Vocabulary | None = None,
) -> Iterator[tuple[PaperServer, PaperServer]]:
    """(baseline, candidate), running. Answers hang on the ids of `words`: hashed ones are the same
    whatever turn comes first."""
    words = words or Vocabulary()
    candidate = candidate or Faults(drafts=K)
    servers = PaperServer(words, baseline or Faults()), PaperServer(words, candidate)
    with served(*servers):
        yield servers


def paper_config(folder: Path, servers: tuple[PaperServer, PaperServer], **policy: Any) -> Config:
    """A configuration that attaches to the servers and keeps everything below `folder`."""
    sessions = folder / "sessions.jsonl"
    if not sessions.exists():
        write_sessions(sessions, 24, 4)
    return urls_config(folder, servers[0].url, servers[1].url, {}, **policy)


def urls_config(
    folder: Path, baseline: str, candidate: str, run: dict[str, Any], **policy: Any
) -> Config:
    """The same of servers by their URLs; `folder` holds the sessions, `run` further keys."""
    return parse_config(
        {
            "run": {
                "sessions": [str(folder / "sessions.jsonl")],
                "output": str(folder / "out"),
                "db": str(folder / "store.duckdb"),
                "tool_parser": "hermes",
                "sampled_share": 0,
                **run,
            },
            "baseline": {"urls": [baseline]},
            "candidate": {
                "urls": [candidate],
                "speculative_config": {"method": "eagle3", "num_speculative_tokens": K},
            },
            "policy": {"noise_tails": "light", **LENIENT, **policy},
        },
        "test",
    )


Gate = Callable[..., GateOutcome]


def rows(outcome: GateOutcome, sql: str) -> list[dict[str, Any]]:
    """The rows of a query on the store that the gate wrote."""
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        return store.rows(sql)
