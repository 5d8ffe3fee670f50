-- Which changes, say from prose to a tool call, cost most acceptance?
-- crossing: label before and label after
-- steps: steps that drafted
-- acceptance_length: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- none: no crossing has enough steps
select crossing, steps, acceptance_length, low, high
from v_acceptance_by_crossing
where run = $run and path = 'candidate' and arm = 'main' and enough
order by acceptance_length, crossing limit 30
