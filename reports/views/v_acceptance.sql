-- Acceptance of every run as a whole.
-- run: run id
-- path: path that drafted
-- arm: why the turns were replayed
-- slice: always all
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
with lengths as (
  select run, path, arm, slice, sum(steps)::bigint as steps,
    1 + sum(accepted) / sum(steps) as acceptance_length,
    cluster_half(
      sum(accepted::double ** 2), sum(accepted::double * steps), sum(steps::double ** 2),
      sum(accepted), sum(steps), count(*)) as half,
    sum(length_sum) / sum(requests) as request_mean,
    sum(accepted) / sum(drafted) as draft_acceptance,
    sum(empty_steps) / sum(steps) as empty_share,
    count(*) as sessions
  from step_sums where dimension = 'all' group by all
),
positions as (
  select run, path, arm, slice,
    list(case when reached >= 100 then accepted / reached end order by position) as conditional
  from (
    select run, path, arm, slice, position, sum(reached) as reached, sum(accepted) as accepted
    from position_sums where dimension = 'all' group by all
  ) group by all
)
select
  run, path, arm, slice as slice, steps, acceptance_length,
  acceptance_length - half as low, acceptance_length + half as high,
  request_mean, draft_acceptance, empty_share, conditional, sessions, steps >= 100 as enough
from lengths left join positions using (run, path, arm, slice)
order by run, path, arm, slice
