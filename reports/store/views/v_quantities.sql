-- Every number of a run that can be held against the same number of another run: acceptance length
-- by slice from the sums, and the metrics of the whole run.
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
with acceptance as (
  select run, 'acceptance_length' as name, dimension::varchar as dimension, slice,
    1 + sum(accepted) / sum(steps) as value,
    cluster_half(
      sum(accepted::double ** 2), sum(accepted::double * steps), sum(steps::double ** 2),
      sum(accepted), sum(steps), count(*)) as half,
    sum(steps)::bigint as n
  from step_sums
  where path = 'candidate' and arm = 'main'
    and dimension in ('all', 'boundary', 'distance', 'context', 'template', 'tool')
  group by all
),
success as (
  select run, session, sum(candidate_calls_ok::int) as a, count(*) as b
  from pairs where comparison = 'candidate' and candidate_calls_ok is not null group by all
),
success_rates as (
  select run, sum(a) / sum(b) as value, sum(b)::bigint as n,
    effective_n(sum(a::double ** 2), sum(a::double * b), sum(b::double ** 2), sum(a), sum(b), count(*))
      as worth
  from success group by run
)
select run, name, dimension, slice, value, value - half as low, value + half as high,
  'tokens' as unit, 'higher' as better, n
from acceptance where n >= 100
union all
select run, 'tool_call_success', 'all', 'all', value, wilson_low(value, worth),
  wilson_high(value, worth), 'share', 'higher', n
from success_rates
union all
select run, 'tpot_speedup', if(context_band is null, 'all', 'context'),
  coalesce(context_band::varchar, 'all'), tpot_speedup, low, high, 'ratio', 'higher', turns
from v_speedup
union all
select run, name || if(path = 'both', '', ' (' || path || ')'), dimension, slice, value, low, high,
  unit, better, n
from metrics
where value is not null and dimension = 'all' and name <> 'mean_acceptance_length'
order by run, name, dimension, slice
