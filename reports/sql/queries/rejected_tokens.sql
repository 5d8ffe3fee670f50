-- Which tokens does the drafter miss most often? (reads raw rows)
-- label: what the token is part of
-- text: the token that came instead
-- rejected: times a draft was rejected there
-- share: share of the times a draft reached this token
-- none: no token was reached by 20 drafts
select t.label, t.text, count(*) filter (not d.accepted) as rejected,
  count(*) filter (not d.accepted) / count(*) as share
from (from draft_positions where run = $run and reached and arm = 'main' and path = 'candidate') d
join (from tokens where run = $run and arm = 'main' and path = 'candidate') t
  using (session, turn, attempt, token_index)
group by t.label, t.text having count(*) >= 20
order by rejected desc, t.label, t.text limit 30
