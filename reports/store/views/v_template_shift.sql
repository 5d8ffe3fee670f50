-- What a changed prompt does to acceptance: every arm with other prompts against the main arm, on the
-- same turns of the candidate.
-- run: run id
-- arm: name of the arm
-- changes: what was changed in every prompt
-- dimension: what is sliced by: all, boundary or context
-- slice: the slice
-- main_length: acceptance length in the main arm; NULL where there were too few steps
-- changed_length: acceptance length with the other prompts
-- difference: changed_length - main_length
-- low: lower end of its interval, 95% over all slices of the dimension together
-- high: upper end of that interval
-- change: lower, higher or alike, by that interval; NULL where there is none
-- accepted_share: accepted tokens per step, other prompts / main arm; 0.5 is half lost
-- steps: steps that drafted, of the arm with fewer
-- sessions: sessions that both arms hold
select
  run, arm, array_to_string(a.perturb, ', ') as changes, dimension::varchar as dimension, slice,
  main_length, changed_length, difference, low, high, change, accepted_share, t.steps, t.sessions
from template_shifts t left join arms a using (run, arm)
order by run, arm, t.dimension, slice
