"""What users' clients got on each route of the servers."""

from reports.schema.column import Column, Table
from reports.schema.run import RUN

ROUTES = Table(
    "routes",
    "One row per arm in which turns were replayed as users send them: what both paths answered on "
    "its route.",
    ("run", "arm"),
    (
        RUN,
        Column("arm", "VARCHAR", "plain, messages, responses or completions", required=True),
        Column("route", "VARCHAR", "chat, messages, responses or completions", required=True),
        Column("turns", "INTEGER", "turns that both paths were asked", "turns", required=True),
        Column("answered", "INTEGER", "turns that both answered", "turns", required=True),
        Column(
            "refused",
            "INTEGER",
            "turns that both refused (4xx)",
            "turns",
            required=True,
        ),
        Column(
            "same_prompt",
            "INTEGER",
            "answered turns whose prompt has as many tokens as in the main arm",
            "turns",
            required=True,
        ),
        Column(
            "compared",
            "INTEGER",
            "answered turns whose texts were compared: no rounding can part them",
            "turns",
            required=True,
        ),
        Column(
            "equal", "INTEGER", "answered turns with equal texts and calls", "turns", required=True
        ),
        Column(
            "errors",
            "INTEGER",
            "findings at severity error that the candidate alone shows",
            required=True,
        ),
    ),
)
