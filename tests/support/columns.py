"""Which documented columns the stores of real runs fill."""

from collections.abc import Iterable
from pathlib import Path

from reports.schema import TABLES
from reports.store.store import Store
from reports.store.view import views


def filled(stores: Iterable[Path]) -> set[str]:
    """``table.column`` of every column of tables and views with a value in a row of some store."""
    found: set[str] = set()
    for file in stores:
        with Store.open(file) as store:
            for name in (*(table.name for table in TABLES), *(view.name for view in views())):
                table = store.arrow(f"from {name}")
                found |= {
                    f"{name}.{column}"
                    for column in table.column_names
                    if table.column(column).null_count < table.num_rows
                }
    return found


def documented() -> set[str]:
    """``table.column`` of every column that docs/sql.md names."""
    tables = {f"{table.name}.{column.name}" for table in TABLES for column in table.columns}
    return tables | {f"{view.name}.{column}" for view in views() for column in view.columns}


NOT_ON_PAPER: dict[str, str] = {
    "pairs.fork_ulp": "scores of the paper model lie on no bf16 grid",
    "v_divergences.ulp": "scores of the paper model lie on no bf16 grid",
    "server_samples.gpu_memory_bytes": "needs a GPU",
    "server_samples.gpu_utilisation": "needs a GPU",
    "v_server_load.max_gpu_memory_bytes": "needs a GPU",
    "v_server_load.mean_gpu_utilisation": "needs a GPU",
}
"""Columns that no run over paper servers fills, and why."""

NOT_IN_ONE_SOUND_RUN: dict[str, str] = {
    "captures.error": "no request fails",
    "captures.unaligned_reason": "every step reconciles",
    "draft_positions.draft_id": "the drafter is no n-gram search",
    "tool_calls.problem": "every call may be sound",
    "turns.skip_reason": "every turn fits",
    "turns.thread": "no session has a sub-agent",
    "turns.tool_choice": "no session names one",
}
"""Columns about captures that stay empty in a sound run of vLLM on the project's own sessions, and
why; paper servers fill them."""
