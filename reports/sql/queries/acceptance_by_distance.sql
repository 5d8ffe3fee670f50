-- How long after a boundary does acceptance recover?
-- distance: tokens since the last change of label
-- steps: steps that drafted
-- acceptance_length: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- none: the candidate reported no steps of its drafter (docs/limits.md)
select distance, steps, acceptance_length, low, high
from v_acceptance_by_distance
where run = $run and path = 'candidate' and arm = 'main' order by distance
