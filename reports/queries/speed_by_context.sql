-- How much quicker is the candidate, by length of the context?
-- context_band: band of the prompt length; NULL: all turns together
-- turns: turns with both times
-- tpot_speedup: baseline / candidate time per output token
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- ttft_speedup: baseline / candidate time to first token
select context_band, turns, tpot_speedup, low, high, ttft_speedup
from v_speedup where run = $run order by context_band nulls first
