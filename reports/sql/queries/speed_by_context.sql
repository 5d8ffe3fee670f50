-- How much quicker is the candidate, by length of the context?
-- context_band: band of the prompt length; all: all turns together
-- turns: turns with both times
-- tpot_speedup: per turn, baseline / candidate time per output token
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- token_speedup: the same per token: all time over all tokens, so that long turns weigh more
-- token_low: lower end of its 95% interval
-- token_high: upper end of its 95% interval
-- ttft_speedup: baseline / candidate time to first token
-- none: no turn has times on both paths
select coalesce(context_band::varchar, 'all') as context_band, turns, tpot_speedup, low, high,
  token_speedup, token_low, token_high, ttft_speedup
from v_speedup where run = $run order by v_speedup.context_band nulls first
