-- Where in an agent's output does this drafter die?
-- boundary: what the token is part of
-- steps: steps that drafted
-- acceptance_length: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- empty_share: share of steps with nothing accepted
-- none: no cell has enough steps; `draftgate query fallback` shows them all
select boundary, steps, acceptance_length, low, high, empty_share
from v_acceptance_by_boundary
where run = $run and path = 'candidate' and arm = 'main' and enough
order by acceptance_length, boundary
