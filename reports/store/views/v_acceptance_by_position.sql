-- Acceptance at every draft position of every slice: the cells of a heat map.
-- run: run id
-- path: path that drafted
-- arm: why the turns were replayed
-- dimension: what is sliced by: boundary, crossing, distance, context, template, tool, cached,
-- boundary_context, or all
-- slice: the slice
-- position: place in the draft, from 0
-- reached: positions reached
-- accepted: of them, accepted
-- rate: accepted / reached, the conditional acceptance; NULL where fewer than 100 were reached
-- low: lower end of its 95% interval (Wilson, at the effective number of observations that the
-- differences between sessions leave); NULL below 3 sessions
-- high: upper end of its 95% interval
-- sessions: sessions the positions come from
with sums as (
  select run, path, arm, dimension, slice, position,
    sum(reached)::bigint as reached, sum(accepted)::bigint as accepted, count(*) as sessions,
    effective_n(
      sum(accepted::double ** 2), sum(accepted::double * reached), sum(reached::double ** 2),
      sum(accepted), sum(reached), count(*)) as worth
  from position_sums group by all
)
select run, path, arm, dimension, slice, position, reached, accepted,
  case when reached >= 100 then accepted / reached end as rate,
  case when reached >= 100 then wilson_low(accepted / reached, worth) end as low,
  case when reached >= 100 then wilson_high(accepted / reached, worth) end as high,
  sessions
from sums
order by run, path, arm, dimension, slice, position
