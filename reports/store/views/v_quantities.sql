-- Every number of a run that can be compared with the same number of another run. At position 0 the
-- conditional acceptance is the acceptance rate, so it stands once.
-- run: run id
-- name: name of the quantity
-- dimension: what is sliced by; all where nothing is
-- slice: the slice
-- value: point estimate
-- low: lower end of its 95% interval; NULL: no interval
-- high: upper end of its 95% interval
-- unit: unit of the three
-- better: higher or lower; NULL: neither
-- n: observations
with profile as (from acceptance where path = 'candidate' and arm = 'main'),
positions as (
  select p.*, a.steps
  from acceptance_positions p join profile a using (run, path, arm, dimension, slice)
  where dimension = 'all'
)
select run, 'acceptance_length' as name, dimension::varchar as dimension, slice,
  acceptance_length as value, low, high, 'tokens' as unit, 'higher' as better, steps as n
from profile
where value is not null
  and dimension in ('all', 'boundary', 'distance', 'context', 'template', 'tool')
union all
select run, 'request_acceptance_length', 'all', slice, request_mean, request_low, request_high,
  'tokens', 'higher', requests
from profile where dimension = 'all' and request_mean is not null
union all
select run, 'acceptance_drift', 'all', slice, drift, drift_low, drift_high, 'logit per position',
  null, steps
from profile where dimension = 'all' and drift is not null
union all
select run, 'acceptance_rate_' || position, 'all', slice, acceptance_rate, rate_low, rate_high,
  'share', 'higher', steps
from positions where acceptance_rate is not null
union all
select run, 'conditional_acceptance_' || position, 'all', slice, conditional_acceptance,
  conditional_low, conditional_high, 'share', 'higher', reached
from positions where position > 0 and conditional_acceptance is not null
union all
select run, 'tool_call_success', 'all', 'all', candidate_rate, candidate_low, candidate_high, 'share',
  'higher', pairs
from tool_success
union all
select run, name || if(path = 'both', '', ' (' || path || ')'), dimension, slice, value, low, high,
  unit, better, n
from metrics
where value is not null
  and (dimension = 'all' or (dimension = 'context' and name = 'speedup_tpot_ms'))
order by run, name, dimension, slice
