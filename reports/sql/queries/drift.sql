-- Does acceptance fall with depth faster in long contexts (attention drift)?
-- context_band: band of the context length
-- positions: draft positions with observations enough
-- first: conditional acceptance at position 0
-- last: conditional acceptance at the deepest of them
-- slope: slope of the logit of conditional acceptance over the position; negative where deep
-- positions are lost
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- none: no context band has enough drafts at two depths
select try_cast(slice as context_name) as context_band, count(*) as positions,
  arg_min(p.conditional_acceptance, position) as first,
  arg_max(p.conditional_acceptance, position) as last, any_value(drift) as slope,
  any_value(drift_low) as low, any_value(drift_high) as high
from acceptance a join acceptance_positions p using (run, path, arm, dimension, slice)
where run = $run and path = 'candidate' and arm = 'main' and dimension = 'context'
  and p.conditional_acceptance is not null and drift is not null
group by context_band order by context_band
