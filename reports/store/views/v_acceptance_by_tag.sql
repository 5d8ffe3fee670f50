-- Acceptance by tag of the session.
-- run ... arm: as in v_acceptance_by_slice
-- tag: tag, `name=value`
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, slice as tag,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'tag'
order by run, path, arm, tag
