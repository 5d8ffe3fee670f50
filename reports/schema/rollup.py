"""Sums kept beside the raw rows, so that daily questions stay quick on any number of runs.

They are computed by the store while a run is loaded, and hold per-session sums, so that every
interval can be clustered by session.
"""

from reports.schema.capture import ARM
from reports.schema.column import Column, Table
from reports.schema.run import PATH, RUN, SESSION

DIMENSION = Column("dimension", "dimension_name", "what is sliced by", required=True)
SLICE = Column(
    "slice", "VARCHAR", "the slice, e.g. `code`; `a | b` for two dimensions", required=True
)

POSITION_SUMS = Table(
    "position_sums",
    "Sums of draft_positions per run, session, slice and position.",
    ("run", "path", "arm", "dimension", "slice", "session", "position"),
    (
        RUN,
        PATH,
        ARM,
        DIMENSION,
        SLICE,
        SESSION,
        Column("position", "UTINYINT", "place in the draft, from 0", required=True),
        Column("reached", "BIGINT", "positions reached", required=True),
        Column("accepted", "BIGINT", "of them, accepted", required=True),
    ),
    derived=True,
)

STEP_SUMS = Table(
    "step_sums",
    "Sums of steps per run, session and slice; a step belongs to the slice its first token is in.",
    ("run", "path", "arm", "dimension", "slice", "session"),
    (
        RUN,
        PATH,
        ARM,
        DIMENSION,
        SLICE,
        SESSION,
        Column("steps", "BIGINT", "steps that drafted", "steps", required=True),
        Column("drafted", "BIGINT", "draft tokens proposed", "tokens", required=True),
        Column("accepted", "BIGINT", "draft tokens accepted", "tokens", required=True),
        Column("empty_steps", "BIGINT", "steps with nothing accepted", "steps", required=True),
        Column("requests", "BIGINT", "requests with at least one such step", required=True),
        Column(
            "length_sum",
            "DOUBLE",
            "sum over requests of 1 + accepted / steps",
            "tokens",
            required=True,
        ),
    ),
    derived=True,
)
