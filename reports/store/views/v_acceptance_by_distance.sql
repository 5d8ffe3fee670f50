-- Acceptance by distance from the last boundary.
-- run ... arm: as in v_acceptance_by_slice
-- distance: tokens since the last change of label
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, try_cast(slice as distance_name) as distance,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'distance'
order by run, path, arm, distance
