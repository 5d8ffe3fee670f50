"""What changed from one run to the next, computed once when a run is loaded."""

from reports.schema.column import Column, Table
from reports.schema.run import RUN

REGRESSIONS = Table(
    "regressions",
    "One row per quantity that a run shares with the newest earlier run of the same model and "
    "speculative method in this file.",
    ("run", "name", "dimension", "slice"),
    (
        RUN,
        Column("previous_run", "VARCHAR", "that earlier run", required=True),
        Column("name", "VARCHAR", "name of the quantity, as in v_quantities", required=True),
        Column("dimension", "VARCHAR", "what is sliced by; all where nothing is", required=True),
        Column("slice", "VARCHAR", "the slice", required=True),
        Column("previous_value", "DOUBLE", "value in the previous run", required=True),
        Column("value", "DOUBLE", "value in this run", required=True),
        Column("difference", "DOUBLE", "value - previous_value", required=True),
        Column(
            "low",
            "DOUBLE",
            "lower end of the difference's 95% interval, the runs taken as independent (MOVER: Zou "
            "and Donner 2008)",
        ),
        Column("high", "DOUBLE", "upper end of that interval"),
        Column("unit", "VARCHAR", "unit of the numbers"),
        Column(
            "change",
            "VARCHAR",
            "worse, better or changed, where the interval excludes 0 even when widened for the "
            "number of quantities compared (Bonferroni); unclear where only the plain one does; "
            "same; NULL where there is no interval",
        ),
    ),
    derived=True,
)
