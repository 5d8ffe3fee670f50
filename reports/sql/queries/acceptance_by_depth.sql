-- How deep do drafts hold, by what is being written?
-- boundary: what the token is part of; all first
-- position: place in the draft, from 0
-- reached: positions reached
-- rate: conditional acceptance c_i, NULL where fewer than 100 were reached
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- none: the candidate reported no steps of its drafter (docs/limits.md)
select slice as boundary, position, reached, rate, low, high
from v_acceptance_by_position
where run = $run and path = 'candidate' and arm = 'main' and dimension in ('all', 'boundary')
order by dimension, try_cast(slice as label_name), position
