-- Speed-up of the candidate by context band, from times paired by turn.
-- run: run id
-- context_band: band of the prompt length; NULL: all turns together
-- turns: turns with both times
-- sessions: sessions they come from
-- tpot_speedup: per turn, the geometric mean of baseline / candidate time per output token
-- low: lower end of its 95% interval, clustered by session; NULL below 3 sessions
-- high: upper end of its 95% interval
-- token_speedup: per token, all time / all tokens after the first, baseline / candidate; long turns
--   weigh more than in tpot_speedup
-- token_low: lower end of its 95% interval, clustered by session; NULL below 3 sessions
-- token_high: upper end of its 95% interval
-- ttft_speedup: geometric mean of baseline / candidate time to first token
-- ttft_low: lower end of its 95% interval
-- ttft_high: upper end of its 95% interval
-- baseline_tokens_per_s: median output tokens per second and user of the baseline
-- candidate_tokens_per_s: median output tokens per second and user of the candidate
with sums as (
  select run, context_band, session, grouping(context_band) as whole, count(tpot_ratio) as n,
    sum(ln(tpot_ratio)) as tpot, count(ttft_ratio) as m, sum(ln(ttft_ratio)) as ttft,
    sum(baseline_tpot_ms * (baseline_tokens - 1)) filter (tpot_ratio > 0) as baseline_ms,
    sum(candidate_tpot_ms * (candidate_tokens - 1)) filter (tpot_ratio > 0) as candidate_ms,
    sum(baseline_tokens - 1) filter (tpot_ratio > 0) as baseline_n,
    sum(candidate_tokens - 1) filter (tpot_ratio > 0) as candidate_n
  from v_latency_pairs
  group by grouping sets ((run, context_band, session), (run, session))
  having count(tpot_ratio) > 0
),
tokens as (
  select run, context_band, whole, sum(baseline_ms) / sum(baseline_n) as baseline_pace,
    sum(candidate_ms) / sum(candidate_n) as candidate_pace,
    case when count(*) >= 3 then
      t975(count(*) - 1) * sqrt(sum(pull ** 2) * count(*) / (count(*) - 1))
    end as half
  from (
    select *, baseline_ms / sum(baseline_ms) over slice - baseline_n / sum(baseline_n) over slice
      - candidate_ms / sum(candidate_ms) over slice + candidate_n / sum(candidate_n) over slice
      as pull
    from sums window slice as (partition by run, context_band, whole)
  )
  group by all
),
medians as (
  select run, context_band, grouping(context_band) as whole,
    median(1000 / nullif(baseline_tpot_ms, 0)) as baseline_tokens_per_s,
    median(1000 / nullif(candidate_tpot_ms, 0)) as candidate_tokens_per_s
  from v_latency_pairs
  group by grouping sets ((run, context_band), (run))
),
logs as (
  select run, context_band, whole, sum(n)::bigint as turns, count(*) as sessions, sum(tpot) / sum(n) as tpot,
    cluster_half(sum(tpot ** 2), sum(tpot * n), sum(n::double ** 2), sum(tpot), sum(n), count(*))
      as tpot_half,
    sum(ttft) / sum(m) as ttft,
    cluster_half(sum(ttft ** 2), sum(ttft * m), sum(m::double ** 2), sum(ttft), sum(m), count(*))
      as ttft_half
  from sums group by all
)
select
  l.run, l.context_band, l.turns, l.sessions,
  exp(l.tpot) as tpot_speedup, exp(l.tpot - l.tpot_half) as low, exp(l.tpot + l.tpot_half) as high,
  t.baseline_pace / t.candidate_pace as token_speedup, token_speedup / exp(t.half) as token_low,
  token_speedup * exp(t.half) as token_high,
  exp(l.ttft) as ttft_speedup, exp(l.ttft - l.ttft_half) as ttft_low,
  exp(l.ttft + l.ttft_half) as ttft_high, m.baseline_tokens_per_s, m.candidate_tokens_per_s
from logs l
join tokens t on t.run = l.run and t.whole = l.whole
  and t.context_band is not distinct from l.context_band
join medians m on m.run = l.run and m.whole = l.whole
  and m.context_band is not distinct from l.context_band
order by l.run, l.whole, l.context_band
