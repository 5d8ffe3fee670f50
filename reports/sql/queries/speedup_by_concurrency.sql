-- Up to which concurrency does the drafter pay?
-- concurrency: sessions replayed side by side
-- in_flight: requests in flight on average
-- turns: turns with both times
-- tpot_speedup: per turn, baseline / candidate time per output token
-- low: lower end of its 95% interval, by resampling sessions
-- high: upper end of its 95% interval
-- token_speedup: the same per token: all time over all tokens, so that long turns weigh more
-- token_low: lower end of its 95% interval
-- token_high: upper end of its 95% interval
-- state: pays, costs or undecided, by the interval per token
-- user_speedup: candidate / baseline output tokens per second and user
-- break_even: concurrency at which the speed-up per token is 1, interpolated; NULL: the
-- drafter pays at every concurrency measured, or only one was
-- none: no arm ran at another concurrency (`draftgate gate --arms all`, docs/arms.md)
select concurrency, in_flight, turns, tpot_speedup, low, high, token_speedup, token_low, token_high,
  state, user_speedup,
  (select value from metrics where run = $run and name = 'break_even_concurrency') as break_even
from v_speedup_by_concurrency where run = $run order by concurrency, arm
