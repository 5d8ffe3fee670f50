"""The sums written beside the raw rows of a run, one statement for each table of sums.

Raw rows are first summed to cells of all slicing columns at once; each dimension then adds up
cells, so the raw rows are read once.
"""

DIMENSIONS = {
    "all": "'all'",
    "boundary": "label::varchar",
    "crossing": "crossing",
    "distance": "distance::varchar",
    "context": "context_band::varchar",
    "template": "template",
    "tool": "tool",
    "cached": "if(cached, 'cached', 'not cached')",
    "boundary_context": "label::varchar || ' | ' || context_band::varchar",
}
"""dimension -> the expression that names a row's slice; NULL leaves the row out."""

_CELL = "label, crossing, distance, context_band, template, tool, cached"

_POSITION_SELECTS = " union all by name ".join(
    f"select '{name}' as dimension, {slice_} as slice, session, path, arm, position,"
    f" sum(reached) as reached, sum(accepted) as accepted"
    f" from cells where {slice_} is not null group by all"
    for name, slice_ in DIMENSIONS.items()
)

POSITION_SUMS = f"""
insert into position_sums by name
with cells as (
  select path, arm, session, position, {_CELL},
    count(*) as reached, count(*) filter (accepted) as accepted
  from draft_positions where run = $run and reached group by all
)
select $run as run, * from ({_POSITION_SELECTS})
order by path, arm, dimension, slice, session, position
"""

_STEP_SLICES = DIMENSIONS | {"accepted": "length::varchar"}

_STEP_SELECTS = " union all by name ".join(
    f"select '{name}' as dimension, slice, path, arm, session, sum(steps) as steps,"
    " sum(drafted) as drafted, sum(accepted) as accepted, sum(empty_steps) as empty_steps,"
    " count(*) as requests, sum(1 + accepted / steps) as length_sum"
    f" from (select {slice_} as slice, path, arm, session, turn, sum(steps) as steps,"
    " sum(drafted) as drafted, sum(accepted) as accepted, sum(empty_steps) as empty_steps"
    f" from cells where {where} and {slice_} is not null group by all) group by all"
    for name, slice_, where in [
        *((name, slice_, "aligned") for name, slice_ in _STEP_SLICES.items()),
        ("unaligned", "'all'", "not aligned"),
    ]
)

STEP_SUMS = f"""
insert into step_sums by name
with firsts as (
  select path, arm, session, turn, attempt, step, crossing, distance, context_band, template, tool,
    cached
  from draft_positions where run = $run and position = 0
),
cells as (
  select path, arm, session, turn, s.label is not null as aligned, s.label,
    crossing, distance, context_band, template, tool, cached, 1 + s.accepted as length,
    count(*) as steps, sum(s.drafted) as drafted, sum(s.accepted) as accepted,
    count(*) filter (s.accepted = 0) as empty_steps
  from (from steps where run = $run) s
  left join firsts using (path, arm, session, turn, attempt, step) group by all
)
select $run as run, * from ({_STEP_SELECTS})
order by path, arm, dimension, slice, session
"""

SUMS = (POSITION_SUMS, STEP_SUMS)
