"""The acceptance profile of every arm that drafted, as `checks.acceptance.profile` estimated it."""

from reports.schema.capture import ARM
from reports.schema.column import Column, Table
from reports.schema.run import PATH, RUN

DIMENSION = Column("dimension", "dimension_name", "what is sliced by", required=True)
SLICE = Column(
    "slice",
    "VARCHAR",
    "the slice, e.g. `code`; `a | b` of two dimensions, `name=value` of a tag",
    required=True,
)

ACCEPTANCE = Table(
    "acceptance",
    "One row per slice of an arm that drafted: counters, acceptance lengths and drift. A step "
    "counts in the slice of its first token; steps that do not reconcile with the tokens are left "
    "out.",
    ("run", "path", "arm", "dimension", "slice"),
    (
        RUN,
        PATH,
        ARM,
        DIMENSION,
        SLICE,
        Column("sessions", "INTEGER", "sessions of the slice", "sessions", required=True),
        Column("requests", "BIGINT", "requests with at least one step", required=True),
        Column("steps", "BIGINT", "steps that drafted", "steps", required=True),
        Column("draft_tokens", "BIGINT", "draft tokens proposed", "tokens", required=True),
        Column("accepted_tokens", "BIGINT", "draft tokens accepted", "tokens", required=True),
        Column("empty_steps", "BIGINT", "steps with nothing accepted", "steps", required=True),
        Column(
            "acceptance_length",
            "DOUBLE",
            "mean acceptance length, token-weighted: 1 + accepted_tokens / steps; NULL: too few",
            "tokens",
        ),
        Column("low", "DOUBLE", "lower end of its 95% interval, clustered by session", "tokens"),
        Column("high", "DOUBLE", "upper end of that interval", "tokens"),
        Column("request_mean", "DOUBLE", "mean over requests of 1 + accepted / steps", "tokens"),
        Column("request_low", "DOUBLE", "lower end of its 95% interval", "tokens"),
        Column("request_high", "DOUBLE", "upper end of that interval", "tokens"),
        Column(
            "drift", "DOUBLE", "slope of the logit of conditional acceptance", "logit per position"
        ),
        Column("drift_low", "DOUBLE", "lower end of its 95% interval", "logit per position"),
        Column("drift_high", "DOUBLE", "upper end of that interval", "logit per position"),
    ),
)

ACCEPTANCE_POSITIONS = Table(
    "acceptance_positions",
    "One row per slice and draft position: the rate vLLM reports, and the conditional one.",
    ("run", "path", "arm", "dimension", "slice", "position"),
    (
        RUN,
        PATH,
        ARM,
        DIMENSION,
        SLICE,
        Column("position", "UTINYINT", "place in the draft, from 0", required=True),
        Column(
            "accepted_steps",
            "BIGINT",
            "steps of the slice that accepted more than `position` tokens, as vLLM counts them",
            "steps",
            required=True,
        ),
        Column(
            "reached_steps",
            "BIGINT",
            "steps of the slice that proposed a token here and accepted all before it",
            "steps",
            required=True,
        ),
        Column(
            "acceptance_rate",
            "DOUBLE",
            "accepted_steps / steps, vLLM's spec_decode_per_position_acceptance_rates; NULL: too "
            "few",
            "share",
        ),
        Column("rate_low", "DOUBLE", "lower end of its 95% interval", "share"),
        Column("rate_high", "DOUBLE", "upper end of that interval", "share"),
        Column(
            "reached",
            "BIGINT",
            "positions reached whose own token is in the slice",
            required=True,
        ),
        Column("accepted", "BIGINT", "of them, accepted", required=True),
        Column(
            "conditional_acceptance",
            "DOUBLE",
            "accepted / reached: acceptance given that all before it was accepted; NULL: too few",
            "share",
        ),
        Column("conditional_low", "DOUBLE", "lower end of its 95% interval", "share"),
        Column("conditional_high", "DOUBLE", "upper end of that interval", "share"),
        Column(
            "sessions",
            "INTEGER",
            "sessions in which the position is reached",
            "sessions",
            required=True,
        ),
    ),
)
