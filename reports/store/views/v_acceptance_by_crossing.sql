-- Acceptance by the kind of boundary last crossed.
-- run ... arm: as in v_acceptance_by_slice
-- crossing: label before and label after, e.g. prose>code
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, slice as crossing,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'crossing'
order by run, path, arm, crossing
