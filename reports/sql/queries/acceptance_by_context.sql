-- Does acceptance fall as the context grows?
-- context_band: band of the context length
-- steps: steps that drafted
-- acceptance_length: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- per_position_acceptance_rates: share of the steps that accepted each draft position
-- conditional_acceptance: share of the drafts that reached each position which accepted it
-- none: the candidate reported no steps of its drafter (docs/limits.md)
select context_band, steps, acceptance_length, low, high, per_position_acceptance_rates,
  conditional_acceptance
from v_acceptance_by_context
where run = $run and path = 'candidate' and arm = 'main' order by context_band
