"""vLLM servers for evidence runs, which attach to them by URL."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from draftgate.progress import reporter
from replay.launch.command import ServerSpec
from replay.launch.cpus import cpu_shares
from replay.launch.server import Server


@contextmanager
def served(specs: Sequence[ServerSpec], logs: Path) -> Iterator[list[Server]]:
    """Start all of them on equal shares of the cores; they end with the block.

    Logs go to ``logs/NAME-N.log``. Raises ServerError where one does not start.
    """
    logs.mkdir(parents=True, exist_ok=True)
    shares = cpu_shares(len(specs))
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                Server(replace(spec, cpus=cpus), logs / f"{spec.name}-{number}.log")
            )
            for number, (spec, cpus) in enumerate(zip(specs, shares, strict=True))
        ]
        for server in servers:
            reporter().note(f"{server.spec.name}: waiting for {server.url}")
            server.wait_healthy()
        yield servers
