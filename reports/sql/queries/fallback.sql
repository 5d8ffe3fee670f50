-- How many steps brought nothing, by what is being written?
-- boundary: what the token is part of
-- steps: steps that drafted
-- empty_share: share of steps with nothing accepted
-- wasted_drafts: draft tokens proposed and thrown away
-- none: the candidate reported no steps of its drafter (docs/limits.md)
select boundary, steps, empty_share,
  (steps * (acceptance_length - 1) / nullif(draft_acceptance, 0)
    - steps * (acceptance_length - 1))::bigint as wasted_drafts
from v_acceptance_by_boundary
where run = $run and path = 'candidate' and arm = 'main'
order by empty_share desc, boundary
