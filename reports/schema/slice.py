"""A verdict per slice of a run: template, tag, tool, context band; and regrets by place."""

from reports.schema.column import Column, Table
from reports.schema.judgement import ORDINAL
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

REGRET_SLICES = Table(
    "regret_slices",
    "One row per kind of place in the answers of the main arm's greedy turns: the candidate's "
    "regret there, up to its first fork, beside that of the baseline's repeat at the same places. "
    "These slices describe; they change no verdict.",
    ("run", "dimension", "slice"),
    (
        RUN,
        ORDINAL,
        Column("dimension", "VARCHAR", "boundary, step or event", required=True),
        Column(
            "slice",
            "VARCHAR",
            "boundary: the label of the token. step: prefill, no draft, accepted, recovered (in "
            "place of a rejected draft) or bonus (behind drafts that were all accepted). event: "
            "after a rejection, or first token of a tool call",
            required=True,
        ),
        Column("tokens", "BIGINT", "candidate tokens with a regret", "tokens", required=True),
        Column("sessions", "INTEGER", "sessions they come from", "sessions", required=True),
        Column("mean_regret", "DOUBLE", "of these tokens", "nat", required=True),
        Column("exceedances", "BIGINT", "of them above the soft bound", "tokens", required=True),
        Column("forks", "INTEGER", "first forks there", required=True),
        Column("noise_tokens", "BIGINT", "the repeat's tokens there", "tokens", required=True),
        Column("noise_mean_regret", "DOUBLE", "of these; NULL: none", "nat"),
        Column("noise_exceedances", "BIGINT", "of these above the soft bound", required=True),
        Column("difference", "DOUBLE", "mean_regret - noise_mean_regret; NULL: too few", "nat"),
        Column("low", "DOUBLE", "lower end of its 95% interval, for all slices at once", "nat"),
        Column("high", "DOUBLE", "upper end of that interval", "nat"),
        Column("change", "VARCHAR", "lower, higher or alike, by it; NULL: no interval"),
    ),
)
