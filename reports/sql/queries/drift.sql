-- Does acceptance fall with depth faster in long contexts (attention drift)?
-- context_band: band of the context length
-- positions: draft positions with at least 100 observations
-- first: conditional acceptance at position 0
-- last: conditional acceptance at the deepest of them
-- slope: slope of logit(c_i) over i; negative where deep positions are lost
-- none: no context band has enough drafts at two depths
select context_band, count(*) as positions, arg_min(rate, position) as first,
  arg_max(rate, position) as last, regr_slope(ln(rate / (1 - rate)), position) as slope
from (
  select slice::context_name as context_band, position, rate
  from v_acceptance_by_position
  where run = $run and path = 'candidate' and arm = 'main' and dimension = 'context'
    and rate > 0 and rate < 1
)
group by context_band order by context_band
