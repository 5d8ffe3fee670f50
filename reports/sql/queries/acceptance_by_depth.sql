-- How deep do drafts hold, by what is being written?
-- boundary: what the token is part of; all first
-- position: place in the draft, from 0
-- acceptance_rate: share of the steps that accepted the position, as vLLM reports it
-- reached: positions reached
-- conditional_acceptance: of them, the share accepted; NULL: too few
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- none: the candidate reported no steps of its drafter (docs/limits.md)
select slice as boundary, position, acceptance_rate, reached, conditional_acceptance,
  conditional_low as low, conditional_high as high
from v_acceptance_by_position
where run = $run and path = 'candidate' and arm = 'main' and dimension in ('all', 'boundary')
order by dimension, try_cast(slice as label_name), position
