-- Speed-up of the candidate by context band, from times paired by turn.
-- run: run id
-- context_band: band of the prompt length; NULL: all turns together
-- turns: turns with both times
-- tpot_speedup: geometric mean of baseline / candidate time per output token
-- low: lower end of its 95% interval, clustered by session; NULL below 3 sessions
-- high: upper end of its 95% interval
-- ttft_speedup: geometric mean of baseline / candidate time to first token
-- ttft_low: lower end of its 95% interval
-- ttft_high: upper end of its 95% interval
-- baseline_tokens_per_s: median output tokens per second and user of the baseline
-- candidate_tokens_per_s: median output tokens per second and user of the candidate
with sums as (
  select run, context_band, session, grouping(context_band) as whole, count(tpot_ratio) as n,
    sum(ln(tpot_ratio)) as tpot, count(ttft_ratio) as m, sum(ln(ttft_ratio)) as ttft
  from v_latency_pairs
  group by grouping sets ((run, context_band, session), (run, session))
  having count(tpot_ratio) > 0
),
medians as (
  select run, context_band, grouping(context_band) as whole,
    median(1000 / nullif(baseline_tpot_ms, 0)) as baseline_tokens_per_s,
    median(1000 / nullif(candidate_tpot_ms, 0)) as candidate_tokens_per_s
  from v_latency_pairs
  group by grouping sets ((run, context_band), (run))
),
logs as (
  select run, context_band, whole, sum(n)::bigint as turns, sum(tpot) / sum(n) as tpot,
    cluster_half(sum(tpot ** 2), sum(tpot * n), sum(n::double ** 2), sum(tpot), sum(n), count(*))
      as tpot_half,
    sum(ttft) / sum(m) as ttft,
    cluster_half(sum(ttft ** 2), sum(ttft * m), sum(m::double ** 2), sum(ttft), sum(m), count(*))
      as ttft_half
  from sums group by all
)
select
  l.run, l.context_band, l.turns,
  exp(l.tpot) as tpot_speedup, exp(l.tpot - l.tpot_half) as low, exp(l.tpot + l.tpot_half) as high,
  exp(l.ttft) as ttft_speedup, exp(l.ttft - l.ttft_half) as ttft_low,
  exp(l.ttft + l.ttft_half) as ttft_high, m.baseline_tokens_per_s, m.candidate_tokens_per_s
from logs l
join medians m on m.run = l.run and m.whole = l.whole
  and m.context_band is not distinct from l.context_band
order by l.run, l.whole, l.context_band
