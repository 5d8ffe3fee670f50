"""What a verdict is about: candidate tokens by how they were decoded, and what was looked at."""

from checks.scope import PARTS
from reports.schema.column import Column, Table
from reports.schema.judgement import ORDINAL
from reports.schema.run import RUN

SCOPE = Table(
    "scope",
    "One row per slice of the candidate's tokens in the main arm and in the sampled share: what "
    "the verdict rests on. Every token lies in one slice of each dimension.",
    ("run", "dimension", "slice"),
    (
        RUN,
        ORDINAL,
        Column("dimension", "VARCHAR", ", ".join(PARTS), required=True),
        Column(
            "slice",
            "VARCHAR",
            "greedy, sampled as recorded, or added (`[run] sampled_share`); context band; boundary "
            "label; free or under a grammar; what the delivered text was compared with: the "
            "baseline's (`baseline`), what the server's parser makes of the turn's own tokens "
            "(`parsed`), their joined texts alone (`joined`), nothing (`unseen`)",
            required=True,
        ),
        Column("tokens", "BIGINT", "candidate tokens in it", "tokens", required=True),
        Column("turns", "INTEGER", "turns that hold them", "turns", required=True),
        Column("share", "DOUBLE", "of all candidate tokens", "share", required=True),
    ),
)
