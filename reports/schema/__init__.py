"""Every table of the store, in load order: a table comes after those it refers to."""

from reports.schema.acceptance import ACCEPTANCE, ACCEPTANCE_POSITIONS
from reports.schema.capture import (
    CAPTURES,
    DRAFT_POSITIONS,
    SERVER_SAMPLES,
    STEPS,
    TOKENS,
    TOOL_CALLS,
)
from reports.schema.column import ENUMS, Column, Table
from reports.schema.judgement import (
    BOUNDS,
    CONTROLS,
    FINDINGS,
    METRICS,
    PAIRS,
    TOOL_SUCCESS,
)
from reports.schema.kept import CAPTURE_KEYS, KEPT, view_of
from reports.schema.record import LAYOUT, LOADS
from reports.schema.regression import REGRESSIONS
from reports.schema.route import ROUTES
from reports.schema.run import ARMS, PATH_DIFFERENCES, PATHS, RUNS, SESSIONS, TURNS
from reports.schema.scope import SCOPE
from reports.schema.shift import TEMPLATE_SHIFTS
from reports.schema.slice import REGRET_SLICES, SLICES

TABLES: tuple[Table, ...] = (
    RUNS,
    PATHS,
    PATH_DIFFERENCES,
    SESSIONS,
    TURNS,
    ARMS,
    CAPTURES,
    TOKENS,
    STEPS,
    DRAFT_POSITIONS,
    TOOL_CALLS,
    SERVER_SAMPLES,
    PAIRS,
    FINDINGS,
    METRICS,
    ACCEPTANCE,
    ACCEPTANCE_POSITIONS,
    TOOL_SUCCESS,
    TEMPLATE_SHIFTS,
    SLICES,
    REGRET_SLICES,
    ROUTES,
    SCOPE,
    BOUNDS,
    CONTROLS,
    REGRESSIONS,
    LOADS,
    LAYOUT,
)

TABLE: dict[str, Table] = {table.name: table for table in TABLES}

KEPT_TABLES = (CAPTURE_KEYS, *KEPT.values())
"""Tables of the file that stand behind those of `TABLES` that are views (`KEPT`)."""

__all__ = ["ENUMS", "KEPT", "KEPT_TABLES", "TABLE", "TABLES", "Column", "Table", "view_of"]
