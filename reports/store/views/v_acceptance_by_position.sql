-- Acceptance at every draft position of every slice: the cells of a heat map.
-- run: run id
-- path: path that drafted
-- arm: why the turns were replayed
-- dimension: what is sliced by: boundary, crossing, distance, context, template, tool, cached,
-- boundary_context, tag or all
-- slice: the slice
-- position: place in the draft, from 0
-- acceptance_rate: accepted here / steps, as vLLM's spec_decode_per_position_acceptance_rates; NULL:
-- too few
-- rate_low: lower end of its 95% interval (Wilson, at the effective number of observations that the
-- differences between sessions leave); NULL where there is one session
-- rate_high: upper end of its 95% interval
-- reached: positions reached
-- accepted: of them, accepted
-- conditional_acceptance: accepted / reached; NULL: too few
-- conditional_low: lower end of its 95% interval, computed alike
-- conditional_high: upper end of its 95% interval
-- sessions: sessions the positions come from
select
  run, path, arm, dimension::varchar as dimension, slice, position, acceptance_rate, rate_low,
  rate_high, reached, accepted, conditional_acceptance, conditional_low, conditional_high, sessions
from acceptance_positions
order by run, path, arm, dimension, slice, position
