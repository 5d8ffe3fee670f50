-- What do other system prompts and template details cost the drafter?
-- arm: arm with other prompts
-- changes: what was changed in every prompt
-- slice: boundary; all is the whole arm
-- main_length: acceptance length of the same turns in the main arm
-- changed_length: acceptance length with the other prompts
-- accepted_share: accepted tokens per step, other prompts / main arm; 0.5 is half lost
-- low: lower end of the difference of the lengths, 95% over all boundaries together
-- high: upper end of it
-- change: lower, higher or alike, by that interval
-- none: no arm ran with changed prompts (`draftgate gate --arms all`, docs/arms.md)
select arm, changes, slice, main_length, changed_length, accepted_share, low, high, change
from v_template_shift where run = $run and dimension in ('all', 'boundary')
order by arm, dimension <> 'all', difference nulls last, slice
