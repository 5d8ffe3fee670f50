"""What was concluded: pairs of captures, findings, metrics, bounds and controls."""

from reports.schema.capture import CROSSING
from reports.schema.column import Column, Table
from reports.schema.run import RUN, SESSION, TURN

ORDINAL = Column("ordinal", "INTEGER", "place in report order, from 0", required=True)

PAIRS = Table(
    "pairs",
    "One row per turn replayed on both sides: equal or not, and where and why they fork.",
    ("run", "comparison", "session", "turn"),
    (
        RUN,
        Column(
            "comparison",
            "VARCHAR",
            "`candidate`, `aa`, `verify` against the baseline; further arms: NAME, NAME-aa",
            required=True,
        ),
        SESSION,
        TURN,
        Column("judged", "BOOLEAN", "false where the tokens could not be compared", required=True),
        Column("not_judged", "VARCHAR", "why not"),
        Column("tokens", "INTEGER", "candidate tokens judged", "tokens"),
        Column("equal", "BOOLEAN", "the two outputs are the same tokens"),
        Column("fork_index", "INTEGER", "token_index of the first divergence; NULL: none"),
        Column(
            "fork_kind", "VARCHAR", "near_tie, hard, excused (the baseline does it too) or unscored"
        ),
        Column("fork_label", "label_name", "label of the candidate's token at the fork"),
        CROSSING,
        Column("baseline_text", "VARCHAR", "the baseline's token at the fork"),
        Column("candidate_text", "VARCHAR", "the candidate's token at the fork"),
        Column("fork_regret", "DOUBLE", "regret of the candidate's token at the fork", "nat"),
        Column(
            "fork_margin", "DOUBLE", "candidate's own margin of its token over the other's", "nat"
        ),
        Column("fork_ulp", "DOUBLE", "regret in units of the last place of a bf16 logit", "ULP"),
        Column("max_regret", "DOUBLE", "largest regret of the turn", "nat"),
        Column("recurs", "VARCHAR", "deterministic or intermittent, by re-runs; NULL: not re-run"),
        Column("content_equal", "BOOLEAN", "same content text; NULL: not comparable"),
        Column(
            "calls_equal", "BOOLEAN", "same tool calls, by name and JSON value; NULL: neither calls"
        ),
        Column(
            "calls_change",
            "VARCHAR",
            "same, spelling (JSON equal), cosmetic or consequential; a call cut at max_tokens is "
            "none; NULL: neither calls",
        ),
        Column("baseline_calls_ok", "BOOLEAN", "baseline's calls usable and valid; NULL: no tools"),
        Column(
            "candidate_calls_ok", "BOOLEAN", "candidate's calls usable and valid; NULL: no tools"
        ),
    ),
)

FINDINGS = Table(
    "findings",
    "One row per finding, in report order.",
    ("run", "ordinal"),
    (
        RUN,
        ORDINAL,
        Column("code", "VARCHAR", "stable code; `draftgate docs CODE` explains it", required=True),
        Column("severity", "severity_name", "error, warning or info", required=True),
        Column("session", "VARCHAR", "session id; NULL: about the run"),
        Column("turn", "VARCHAR", "turn id; NULL: about the session or the run"),
        Column("arm", "VARCHAR", "arm it was seen in"),
        Column("token_index", "INTEGER", "where in the output; NULL: not about one token"),
        Column("boundary", "VARCHAR", "label or boundary at that place"),
        Column("message", "VARCHAR", "what was seen, in a sentence", required=True),
        Column("cause", "VARCHAR", "likely cause, where one is known"),
        Column("baseline", "VARCHAR", "what the baseline gave, secrets replaced"),
        Column("candidate", "VARCHAR", "what the candidate gave, secrets replaced"),
        Column("baseline_too", "BOOLEAN", "true where the baseline shows it too", required=True),
        Column("detail", "JSON", "further facts of this finding, by name"),
        Column("case_file", "VARCHAR", "file of the smallest reproduction, for `draftgate check`"),
    ),
)

METRICS = Table(
    "metrics",
    "One row per measured number and slice.",
    ("run", "name", "path", "dimension", "slice"),
    (
        RUN,
        Column("name", "VARCHAR", "name of the metric, e.g. speedup_tpot_ms", required=True),
        Column("path", "VARCHAR", "baseline, candidate, or `both` for a comparison", required=True),
        Column(
            "dimension", "VARCHAR", "what is sliced by: `all`, boundary, context …", required=True
        ),
        Column("slice", "VARCHAR", "the slice, `all` where nothing is sliced", required=True),
        Column("value", "DOUBLE", "point estimate; NULL: not measured"),
        Column("low", "DOUBLE", "lower end of the 95% interval"),
        Column("high", "DOUBLE", "upper end of the 95% interval"),
        Column("unit", "VARCHAR", "unit of value, low and high"),
        Column("formula", "VARCHAR", "how it is computed, and how the interval is"),
        Column("better", "VARCHAR", "`higher` or `lower`; NULL: neither is better"),
        Column("n", "BIGINT", "observations it rests on"),
        Column("sessions", "INTEGER", "sessions they come from", "sessions"),
    ),
)

TOOL_SUCCESS = Table(
    "tool_success",
    "Tool-call success of both paths, paired by turn of the main arm; no row where no turn calls a "
    "tool. A turn succeeds when it ends in calls that each parse, name a known tool and satisfy "
    "its schema.",
    ("run",),
    (
        RUN,
        Column("pairs", "INTEGER", "turns in which either path calls a tool", required=True),
        Column("sessions", "INTEGER", "sessions they come from", "sessions", required=True),
        Column("both_ok", "INTEGER", "both succeed", required=True),
        Column("only_baseline_ok", "INTEGER", "the candidate alone fails", required=True),
        Column("only_candidate_ok", "INTEGER", "the baseline alone fails", required=True),
        Column("neither_ok", "INTEGER", "both fail", required=True),
        Column("baseline_rate", "DOUBLE", "success of the baseline", "share", required=True),
        Column("baseline_low", "DOUBLE", "lower end of its 95% interval", "share"),
        Column("baseline_high", "DOUBLE", "upper end of that interval", "share"),
        Column("candidate_rate", "DOUBLE", "success of the candidate", "share", required=True),
        Column("candidate_low", "DOUBLE", "lower end of its 95% interval", "share"),
        Column("candidate_high", "DOUBLE", "upper end of that interval", "share"),
        Column("difference", "DOUBLE", "candidate_rate - baseline_rate", "share", required=True),
        Column(
            "mcnemar_p",
            "DOUBLE",
            "exact two-sided McNemar p-value, from the pairs where one alone fails",
            required=True,
        ),
    ),
)

BOUNDS = Table(
    "bounds",
    "One row per bound of the policy: the estimate, its limits, the margin and the noise floor.",
    ("run", "ordinal"),
    (
        RUN,
        ORDINAL,
        Column(
            "turns",
            "VARCHAR",
            "what it is about: `all` replayed turns, which decide the verdict, or the `faithful` "
            "ones alone, whose prompt is exact or rebuilt (where the run holds others too)",
            required=True,
        ),
        Column("name", "VARCHAR", "name of the bound", required=True),
        Column("state", "bound_state", "pass, fail, inconclusive, not_applicable", required=True),
        Column("value", "DOUBLE", "point estimate"),
        Column("low", "DOUBLE", "lower one-sided 95% limit"),
        Column("high", "DOUBLE", "upper one-sided 95% limit"),
        Column("margin", "DOUBLE", "what the limits are compared with"),
        Column("noise_floor", "DOUBLE", "the same quantity of the baseline against itself"),
        Column("unit", "VARCHAR", "unit of all five numbers"),
        Column("n", "BIGINT", "observations"),
        Column("sessions", "INTEGER", "sessions they come from", "sessions"),
        Column("needed", "VARCHAR", "how much more data would decide; NULL where it is decided"),
        Column("message", "VARCHAR", "the bound in a sentence", required=True),
    ),
)

CONTROLS = Table(
    "controls",
    "One row per control: planted faults that must be caught, and the unchanged copy.",
    ("run", "ordinal"),
    (
        RUN,
        ORDINAL,
        Column(
            "kind",
            "VARCHAR",
            "what was planted; `unchanged` is the negative control",
            required=True,
        ),
        Column("expected", "VARCHAR", "the one code that must fire; NULL: none may"),
        Column(
            "state", "control_state", "caught, missed, no_data or not_applicable", required=True
        ),
        Column("fired", "VARCHAR[]", "codes that fired"),
        Column("detail", "VARCHAR", "how many copies, and why it is missed or lacks data"),
    ),
)
