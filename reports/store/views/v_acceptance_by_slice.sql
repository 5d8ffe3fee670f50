-- Acceptance of every slice of every dimension, and of every tag of the sessions; further views show
-- one dimension each.
-- run: run id
-- path: path that drafted
-- arm: why the turns were replayed
-- dimension: what is sliced by: all, boundary, crossing, distance, context, template, tool, cached,
-- boundary_context or tag
-- slice: the slice; `name=value` of a tag
-- steps: steps that drafted, each counted in the slice of its first token
-- acceptance_length: mean acceptance length, token-weighted: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval, clustered by session; NULL below 3 sessions
-- high: upper end of its 95% interval
-- request_mean: mean over requests of 1 + accepted / steps
-- draft_acceptance: accepted draft tokens / proposed draft tokens
-- empty_share: share of steps with nothing accepted
-- conditional: acceptance at each draft position given that it was reached (c_0, c_1, ...); a
-- position counts in the slice of its own token; NULL where fewer than 100 were reached
-- sessions: sessions the steps come from
-- enough: true from 100 steps on; below that the numbers are anecdotes
with tagged as (
  select run, session, unnest(map_entries(tags)) as tag from sessions
),
step_slices as (
  select run, path, arm, dimension::varchar as dimension, slice, session, steps, drafted, accepted,
    empty_steps, requests, length_sum
  from step_sums where dimension not in ('accepted', 'unaligned')
  union all
  select run, path, arm, 'tag', tag.key || '=' || tag.value, session, steps, drafted, accepted,
    empty_steps, requests, length_sum
  from step_sums join tagged using (run, session) where dimension = 'all'
),
lengths as (
  select run, path, arm, dimension, slice, sum(steps)::bigint as steps,
    1 + sum(accepted) / sum(steps) as acceptance_length,
    cluster_half(
      sum(accepted::double ** 2), sum(accepted::double * steps), sum(steps::double ** 2),
      sum(accepted), sum(steps), count(*)) as half,
    sum(length_sum) / sum(requests) as request_mean,
    sum(accepted) / sum(drafted) as draft_acceptance,
    sum(empty_steps) / sum(steps) as empty_share,
    count(*) as sessions
  from step_slices group by all
),
position_slices as (
  select run, path, arm, dimension::varchar as dimension, slice, position, reached, accepted
  from position_sums
  union all
  select run, path, arm, 'tag', tag.key || '=' || tag.value, position, reached, accepted
  from position_sums join tagged using (run, session) where dimension = 'all'
),
positions as (
  select run, path, arm, dimension, slice,
    list(case when reached >= 100 then accepted / reached end order by position) as conditional
  from (
    select run, path, arm, dimension, slice, position, sum(reached) as reached,
      sum(accepted) as accepted
    from position_slices group by all
  ) group by all
)
select
  run, path, arm, dimension, slice, steps, acceptance_length,
  acceptance_length - half as low, acceptance_length + half as high,
  request_mean, draft_acceptance, empty_share, conditional, sessions, steps >= 100 as enough
from lengths left join positions using (run, path, arm, dimension, slice)
order by run, path, arm, dimension, slice
