"""What a changed prompt does to the drafter: an arm with other prompts against the main arm."""

from reports.schema.acceptance import DIMENSION, SLICE
from reports.schema.capture import ARM
from reports.schema.column import Column, Table
from reports.schema.run import RUN

TEMPLATE_SHIFTS = Table(
    "template_shifts",
    "Acceptance of an arm with other prompts against the main arm's, the same turns of the "
    "candidate, paired by session.",
    ("run", "arm", "dimension", "slice"),
    (
        RUN,
        ARM,
        DIMENSION,
        SLICE,
        Column("main_length", "DOUBLE", "acceptance length, main arm; NULL: too few", "tokens"),
        Column("changed_length", "DOUBLE", "acceptance length, other prompts", "tokens"),
        Column("difference", "DOUBLE", "changed_length - main_length", "tokens"),
        Column(
            "low",
            "DOUBLE",
            "lower end of its interval: 95% over all slices of the dimension together",
            "tokens",
        ),
        Column("high", "DOUBLE", "upper end of that interval", "tokens"),
        Column("change", "VARCHAR", "lower, higher or alike, by that interval; NULL: no interval"),
        Column(
            "accepted_share",
            "DOUBLE",
            "accepted per step, other prompts / main arm; 0.5: half is lost",
            "ratio",
        ),
        Column("accepted_share_low", "DOUBLE", "lower end of its interval", "ratio"),
        Column("accepted_share_high", "DOUBLE", "upper end of its interval", "ratio"),
        Column(
            "conditional_acceptance",
            "DOUBLE[]",
            "differences of the conditional acceptance of each position; NULL: too few",
            "share",
        ),
        Column("drift", "DOUBLE", "difference of the slope of logit c_i", "logit per position"),
        Column("drift_low", "DOUBLE", "lower end of its interval", "logit per position"),
        Column("drift_high", "DOUBLE", "upper end of its interval", "logit per position"),
        Column("steps", "BIGINT", "steps that drafted, of the arm with fewer", "steps"),
        Column("sessions", "INTEGER", "sessions that both arms hold", "sessions"),
    ),
)
