-- Acceptance by prompt template.
-- run ... arm: as in v_acceptance_by_slice
-- template: prompt template of the session
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, slice as template,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'template'
order by run, path, arm, template
