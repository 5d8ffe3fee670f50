"""The gate over the paper servers, as a fixture."""

from pathlib import Path
from typing import Any

import pytest

from draftgate.config.config import ReferenceSection
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.paper.gate import Gate, paper_config, paper_paths
from tests.support.paper.server import Faults


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
