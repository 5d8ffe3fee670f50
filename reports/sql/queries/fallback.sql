-- How many steps brought nothing, by what is being written?
-- boundary: what the token is part of
-- steps: steps that drafted
-- empty_share: share of steps with nothing accepted
-- wasted_drafts: draft tokens proposed and thrown away
-- none: the candidate reported no steps of its drafter (docs/limits.md)
select try_cast(slice as label_name) as boundary, steps, empty_steps / steps as empty_share,
  draft_tokens - accepted_tokens as wasted_drafts
from acceptance
where run = $run and path = 'candidate' and arm = 'main' and dimension = 'boundary' and steps > 0
order by empty_share desc, boundary
