-- In the calls of which tools are drafts accepted?
-- tool: tool whose call is being written
-- steps: steps that drafted
-- acceptance_length: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- none: no tool call was written under a drafter that reported its steps
select tool, steps, acceptance_length, low, high
from v_acceptance_by_tool
where run = $run and path = 'candidate' and arm = 'main' order by steps desc, tool
