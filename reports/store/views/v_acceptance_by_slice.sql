-- Acceptance of every slice of every dimension; further views show one dimension each.
-- run: run id
-- path: path that drafted
-- arm: why the turns were replayed
-- dimension: what is sliced by: all, boundary, crossing, distance, context, template, tool, cached,
-- boundary_context or tag
-- slice: the slice; `name=value` of a tag
-- steps: steps that drafted, each counted in the slice of its first token
-- acceptance_length: mean acceptance length, token-weighted: 1 + accepted / steps; NULL: too few
-- low: lower end of its 95% interval, clustered by session; NULL where there is one session
-- high: upper end of its 95% interval
-- request_mean: mean over requests of 1 + accepted / steps
-- draft_acceptance: accepted draft tokens / proposed draft tokens
-- empty_share: share of steps with nothing accepted
-- per_position_acceptance_rates: share of the steps that accepted each draft position, as vLLM's
-- spec_decode_per_position_acceptance_rates; NULL: too few
-- conditional_acceptance: share of the drafts that reached each position which accepted it (c_0,
-- c_1, ...), counted in the slice of the position's own token; NULL: too few
-- sessions: sessions of the slice
-- enough: true where there are steps enough for an acceptance length (30), of ten sessions or more
select
  run, path, arm, dimension::varchar as dimension, slice, steps, acceptance_length, low, high,
  request_mean, accepted_tokens / nullif(draft_tokens, 0) as draft_acceptance,
  empty_steps / steps as empty_share, per_position_acceptance_rates, conditional_acceptance, sessions,
  acceptance_length is not null and sessions >= 10 as enough
from acceptance
left join (
  select run, path, arm, dimension, slice,
    list(acceptance_rate order by position) as per_position_acceptance_rates,
    list(conditional_acceptance order by position) as conditional_acceptance
  from acceptance_positions group by all
) using (run, path, arm, dimension, slice)
where steps > 0
order by run, path, arm, dimension, slice
