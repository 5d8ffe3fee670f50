"""The SQL guide with sample answers from made-up runs, the same every time."""

from reports.sql.documentation import sql_guide
from reports.store.store import Store
from tests.support.synthetic_run import synthetic_run


def sample_guide() -> str:
    """The text that docs/sql.md must hold."""
    with Store.in_memory() as store:
        store.connection.execute("set threads = 1")
        store.load(synthetic_run("20260526-093000-aa11", tokens=300))
        store.load(
            synthetic_run(
                "20260527-093000-bb22", seed=2, tokens=300, day=1, verdict="fail", accept=0.6
            )
        )
        return sql_guide(store, "20260527")
