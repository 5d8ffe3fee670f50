-- Which prompt templates does the drafter not know?
-- template: prompt template
-- steps: steps that drafted
-- acceptance_length: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- sessions: sessions the steps come from
-- none: the candidate reported no steps of its drafter (docs/limits.md)
select template, steps, acceptance_length, low, high, sessions
from v_acceptance_by_template
where run = $run and path = 'candidate' and arm = 'main' order by acceptance_length, template
