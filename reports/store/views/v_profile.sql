-- Acceptance profile in the shape of case files: counters per boundary and context band, each step
-- counted where its first token lies. Reads raw rows; ask it for one run.
-- run: run id
-- path: path that drafted
-- arm: why the turns were replayed
-- boundary: label of the step's first token
-- context_bucket: band of the context length there
-- num_drafts: steps that drafted
-- num_draft_tokens: draft tokens proposed
-- accepted_per_pos: steps that accepted more than 0, 1, 2 ... draft tokens
-- num_accepted_tokens: draft tokens accepted
with counted as (
  select s.run, s.path, s.arm, s.label, p.context_band, s.drafted, s.accepted, count(*) as n
  from steps s
  join draft_positions p on p.run = s.run and p.path = s.path and p.arm = s.arm
    and p.session = s.session and p.turn = s.turn and p.attempt = s.attempt and p.step = s.step
    and p.position = 0
  where s.label is not null and p.context_band is not null
  group by all
),
cells as (
  select run, path, arm, label, context_band, sum(n)::bigint as num_drafts,
    sum(drafted * n)::bigint as num_draft_tokens, max(drafted) as depth,
    list({'accepted': accepted, 'n': n}) as counts, sum(accepted * n)::bigint as num_accepted_tokens
  from counted group by all
)
select run, path, arm, label::varchar as boundary, context_band::varchar as context_bucket,
  num_drafts, num_draft_tokens,
  list_transform(range(depth), lambda i: coalesce(
    list_sum(list_transform(counts, lambda c: if(c.accepted > i, c.n, 0)))::bigint, 0))
    as accepted_per_pos,
  num_accepted_tokens
from cells
order by run, path, arm, label, context_band
