-- Verdict and acceptance of every slice of a run: template, tag, tool and context band. Main arm.
-- run: run id
-- dimension: what is sliced by: template, tag, tool or context
-- slice: the slice; `name=value` of a tag
-- verdict: fail, where a test of the slice fails or a turn of it has an error; pass, where every limit
-- lies inside its margin; else inconclusive
-- turns: turns of the slice; of a tool, those in which the baseline calls it
-- sessions: sessions they come from
-- errors: findings at severity error in these turns
-- tests: tests of slices in this run, which the p-values allow for
-- tokens: candidate tokens tested; NULL: none
-- regret_excess: excess rate of soft regrets, per token
-- regret_limit: its upper 95% limit, for all slices of the run at once
-- regret_p: one-sided p-value, Holm-adjusted; NULL: cannot be tested
-- regret_state: pass, fail or inconclusive; NULL: not tested
-- tool_turns: turns with tool calls on either path
-- tool_difference: tool-call success, candidate - baseline
-- tool_limit: its lower 95% limit, for all slices of the run at once
-- tool_p: p-value of a loss beyond the margin, Holm-adjusted
-- tool_state: pass, fail or inconclusive; NULL: no such turn
-- acceptance_length: mean acceptance length; NULL: too few steps
-- acceptance_difference: to that of all other steps of the run
-- acceptance_low: lower end of its 95% interval, for all slices of the run at once
-- acceptance_high: upper end of that interval
-- acceptance_change: lower, higher or alike, by that interval; NULL: no interval
-- per_position_acceptance_rates: share of the steps that accepted each draft position, as vLLM counts
-- conditional_acceptance: share of the drafts that reached each position which accepted it
-- empty_share: share of steps with nothing accepted
select
  run, dimension, slice, s.verdict, s.turns, s.sessions, s.errors, s.tests, s.tokens, s.regret_excess,
  s.regret_limit, s.regret_p, s.regret_state, s.tool_turns, s.tool_difference, s.tool_limit, s.tool_p,
  s.tool_state, s.acceptance_length, s.acceptance_difference, s.acceptance_low, s.acceptance_high,
  s.acceptance_change, a.per_position_acceptance_rates, a.conditional_acceptance,
  a.empty_share
from slices s
left join (from v_acceptance_by_slice where path = 'candidate' and arm = 'main') a
  using (run, dimension, slice)
order by run, dimension, slice
