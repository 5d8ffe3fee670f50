"""A verdict per slice of a run: template, tag, tool, context band."""

from reports.schema.column import Column, Table
from reports.schema.run import RUN

SLICES = Table(
    "slices",
    "One row per slice of a run that three sessions or more are in: its own verdict, and its "
    "acceptance against the rest of the run. Main arm, greedy turns.",
    ("run", "dimension", "slice"),
    (
        RUN,
        Column("dimension", "VARCHAR", "template, tag, tool or context", required=True),
        Column("slice", "VARCHAR", "the slice; `name=value` of a tag", required=True),
        Column(
            "verdict",
            "verdict_name",
            "fail: a test of the slice, or a turn with an error; pass: every limit inside its "
            "margin; else inconclusive",
            required=True,
        ),
        Column("turns", "INTEGER", "turns of the slice", "turns"),
        Column("sessions", "INTEGER", "sessions they come from", "sessions"),
        Column("errors", "INTEGER", "findings at severity error in these turns"),
        Column("tests", "INTEGER", "tests of slices in this run, which the p-values allow for"),
        Column("tokens", "BIGINT", "candidate tokens tested; NULL: none", "tokens"),
        Column("regret_excess", "DOUBLE", "excess rate of soft regrets", "per token"),
        Column("regret_limit", "DOUBLE", "upper 95% limit, for all slices at once", "per token"),
        Column("regret_p", "DOUBLE", "one-sided p, Holm-adjusted; NULL: cannot be tested"),
        Column("regret_state", "bound_state", "pass, fail or inconclusive; NULL: not tested"),
        Column("tool_turns", "INTEGER", "turns with tool calls on either path", "turns"),
        Column("tool_difference", "DOUBLE", "tool-call success, candidate - baseline", "share"),
        Column("tool_limit", "DOUBLE", "lower 95% limit, for all slices at once", "share"),
        Column("tool_p", "DOUBLE", "p of a loss beyond the margin, Holm-adjusted"),
        Column("tool_state", "bound_state", "pass, fail or inconclusive; NULL: no such turn"),
        Column("acceptance_length", "DOUBLE", "mean acceptance length; NULL: too few", "tokens"),
        Column("acceptance_difference", "DOUBLE", "to all other steps of the run", "tokens"),
        Column("acceptance_low", "DOUBLE", "lower 95% end, for all slices at once", "tokens"),
        Column("acceptance_high", "DOUBLE", "upper 95% end, for all slices at once", "tokens"),
        Column(
            "acceptance_change",
            "VARCHAR",
            "lower, higher or alike, by that interval; NULL: no interval",
        ),
    ),
)
