"""A store with three runs, made once: `good`, `bad` (fewer accepted, a finding), `again`."""

from pathlib import Path

import pytest

from reports.store.store import Store
from tests.support.synthetic_run import synthetic_run


@pytest.fixture(scope="session")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file; tests only read it."""
    file = tmp_path_factory.mktemp("store") / "draftgate.duckdb"
    with Store.open(file, write=True) as store:
        store.load(synthetic_run("good", tokens=300))
        store.load(
            synthetic_run("bad", seed=2, tokens=300, day=1, verdict="fail", accept=0.6, slow=0.7)
        )
        store.load(synthetic_run("again", seed=3, tokens=300, day=2, accept=0.6, slow=0.7))
    return file
