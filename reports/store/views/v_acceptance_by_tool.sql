-- Acceptance inside tool calls, by tool.
-- run ... arm: as in v_acceptance_by_slice
-- tool: tool whose call the token is part of
-- steps ... enough: as in v_acceptance_by_slice
select
  run, path, arm, slice as tool,
  steps, acceptance_length, low, high, request_mean, draft_acceptance, empty_share,
  per_position_acceptance_rates, conditional_acceptance,
  sessions, enough
from v_acceptance_by_slice where dimension = 'tool'
order by run, path, arm, tool
