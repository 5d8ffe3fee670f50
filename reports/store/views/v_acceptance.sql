-- Acceptance of every run as a whole.
-- run ... arm: as in v_acceptance_by_slice
-- slice: always all
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, slice,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'all'
order by run, path, arm, slice
