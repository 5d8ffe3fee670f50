-- Acceptance profile in the shape of case files: counters per boundary and context band, each step
-- counted where its first token lies.
-- run: run id
-- path: path that drafted
-- arm: why the turns were replayed
-- boundary: label of the step's first token; all: every label
-- context_bucket: band of the context length there
-- num_drafts: steps that drafted
-- num_draft_tokens: draft tokens proposed
-- accepted_per_pos: steps that accepted more than 0, 1, 2 ... draft tokens
-- reached_per_pos: steps that proposed a token there and accepted all before it
-- num_accepted_tokens: draft tokens accepted
with counted as (
  select run, path, arm, dimension, slice, list(accepted_steps order by position) as accepted_per_pos,
    list(reached_steps order by position) as reached_per_pos
  from acceptance_positions where dimension in ('boundary_context', 'context') group by all
)
select
  run, path, arm,
  if(dimension = 'context', 'all', split_part(slice, ' | ', 1)) as boundary,
  if(dimension = 'context', slice, split_part(slice, ' | ', 2)) as context_bucket,
  steps as num_drafts, draft_tokens as num_draft_tokens, accepted_per_pos, reached_per_pos,
  accepted_tokens as num_accepted_tokens
from acceptance join counted using (run, path, arm, dimension, slice)
where steps > 0
order by run, path, arm, boundary, context_bucket::context_name
