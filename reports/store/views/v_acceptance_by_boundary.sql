-- Acceptance by what the token is part of: where drafts are accepted, and where they are not.
-- run ... arm: as in v_acceptance_by_slice
-- boundary: label of the token
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, try_cast(slice as label_name) as boundary,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'boundary'
order by run, path, arm, boundary
