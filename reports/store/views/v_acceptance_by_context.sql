-- Acceptance by length of the context.
-- run ... arm: as in v_acceptance_by_slice
-- context_band: band of the context length
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, try_cast(slice as context_name) as context_band,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'context'
order by run, path, arm, context_band
