-- Speed-up of the candidate over concurrency: one row per arm whose servers ran as they will be used.
-- run: run id
-- concurrency: sessions replayed side by side
-- arm: main, or the name of a further arm
-- in_flight: requests in flight on average, the smaller of both paths
-- turns: turns with both times
-- sessions: sessions they come from
-- tpot_speedup: per turn, the geometric mean of baseline / candidate time per output token
-- low: lower end of its 95% interval, by resampling sessions
-- high: upper end of its 95% interval
-- token_speedup: per token, all time / all tokens after the first, baseline / candidate; long turns
--   weigh more than in tpot_speedup
-- token_low: lower end of its 95% interval, by resampling sessions
-- token_high: upper end of its 95% interval
-- state: pays, where the whole interval per token is above 1; costs, where it is below; else
--   undecided
-- ttft_speedup: geometric mean of baseline / candidate time to first token
-- user_speedup: geometric mean of candidate / baseline output tokens per second and user, from
-- sending to the last token
-- baseline_tokens_per_s: median output tokens per second and user of the baseline
-- candidate_tokens_per_s: median output tokens per second and user of the candidate
with speed as (
  select run, slice as arm,
    max(value) filter (name = 'speedup_tpot_ms') as tpot_speedup,
    max(low) filter (name = 'speedup_tpot_ms') as low,
    max(high) filter (name = 'speedup_tpot_ms') as high,
    max(value) filter (name = 'speedup_ms_per_token') as token_speedup,
    max(low) filter (name = 'speedup_ms_per_token') as token_low,
    max(high) filter (name = 'speedup_ms_per_token') as token_high,
    max(n) filter (name = 'speedup_tpot_ms') as turns,
    max(sessions) filter (name = 'speedup_tpot_ms') as sessions,
    max(value) filter (name = 'speedup_ttft_ms') as ttft_speedup,
    max(value) filter (name = 'speedup_user_tokens_per_s') as user_speedup,
    max(value) filter (name = 'user_tokens_per_s' and path = 'baseline') as baseline_tokens_per_s,
    max(value) filter (name = 'user_tokens_per_s' and path = 'candidate') as candidate_tokens_per_s
  from metrics
  where dimension = 'arm' and (name like 'speedup%' or name = 'user_tokens_per_s')
  group by run, slice
)
select
  run, a.concurrency, arm, least(a.baseline_in_flight, a.candidate_in_flight) as in_flight, s.turns,
  s.sessions, tpot_speedup, low, high, token_speedup, token_low, token_high,
  case when token_low > 1 then 'pays' when token_high < 1 then 'costs' else 'undecided' end as state,
  ttft_speedup, user_speedup, baseline_tokens_per_s, candidate_tokens_per_s
from speed s join arms a using (run, arm)
order by run, a.concurrency, arm
