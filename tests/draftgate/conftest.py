"""The gate over the paper servers, and the embedded pair on real ones, as fixtures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from draftgate.config.config import ReferenceSection
from draftgate.config.file import read_config
from draftgate.progress import SilentReporter
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from draftgate.run.paths import open_paths
from tests.support.paper.gate import Gate, paper_config, paper_paths
from tests.support.paper.server import Faults
from traces.journal.exchange import PATHS


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Run a gate: ``gate(candidate=Faults(...), baseline=Faults(...), **policy)``."""

    def run(
        candidate: Faults | None = None,
        baseline: Faults | None = None,
        reference: str = "",
        allow_missing: bool = False,
        **policy: Any,
    ) -> GateOutcome:
        with paper_paths(candidate, baseline) as servers:
            config = paper_config(tmp_path, servers, **policy)
            run = config.run.model_copy(update={"allow_missing": allow_missing})
            update = {"reference": ReferenceSection(run=reference), "run": run}
            config = config.model_copy(update=update)
            return run_gate(config, SilentReporter())

    return run


@pytest.fixture(scope="session")
def vllm_urls(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The URLs of both paths of `gate.toml`, on real vLLM; the servers take a minute to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        logs = RunFolder(tmp_path_factory.mktemp("servers"))
        config = read_config(root / "gate.toml")
        with open_paths(config, PATHS, logs, SilentReporter()) as paths:
            yield {name: path.urls[0] for name, path in paths.items()}
