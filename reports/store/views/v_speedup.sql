-- Speed-up of the candidate by context band, from times paired by turn. Main arm.
-- run: run id
-- context_band: band of the prompt length; NULL: all turns together
-- turns: turns with both times
-- sessions: sessions they come from
-- tpot_speedup: per turn, the geometric mean of baseline / candidate time per output token
-- low: lower end of its 95% interval, clustered by session; NULL where there is one session
-- high: upper end of its 95% interval
-- token_speedup: per token, all time / all tokens after the first, baseline / candidate; long turns
--   weigh more than in tpot_speedup
-- token_low: lower end of its 95% interval, clustered by session; NULL where there is one session
-- token_high: upper end of its 95% interval
-- ttft_speedup: geometric mean of baseline / candidate time to first token
-- ttft_low: lower end of its 95% interval
-- ttft_high: upper end of its 95% interval
-- user_speedup: geometric mean of candidate / baseline output tokens per second and user, from
-- sending to the last token
-- baseline_tokens_per_s: median output tokens per second and user of the baseline
-- candidate_tokens_per_s: median output tokens per second and user of the candidate
select
  run, try_cast(if(dimension = 'all', null, slice) as context_name) as context_band,
  max(n) filter (name = 'speedup_tpot_ms') as turns,
  max(sessions) filter (name = 'speedup_tpot_ms') as sessions,
  max(value) filter (name = 'speedup_tpot_ms') as tpot_speedup,
  max(low) filter (name = 'speedup_tpot_ms') as low,
  max(high) filter (name = 'speedup_tpot_ms') as high,
  max(value) filter (name = 'speedup_ms_per_token') as token_speedup,
  max(low) filter (name = 'speedup_ms_per_token') as token_low,
  max(high) filter (name = 'speedup_ms_per_token') as token_high,
  max(value) filter (name = 'speedup_ttft_ms') as ttft_speedup,
  max(low) filter (name = 'speedup_ttft_ms') as ttft_low,
  max(high) filter (name = 'speedup_ttft_ms') as ttft_high,
  max(value) filter (name = 'speedup_user_tokens_per_s') as user_speedup,
  max(value) filter (name = 'user_tokens_per_s' and path = 'baseline') as baseline_tokens_per_s,
  max(value) filter (name = 'user_tokens_per_s' and path = 'candidate') as candidate_tokens_per_s
from metrics where dimension in ('all', 'context')
group by run, dimension, slice having tpot_speedup is not null
order by run, context_band is not null, context_band
