-- Times of both paths, turn by turn: the last attempt of the main arm, where both were served.
-- run: run id
-- session: session id
-- turn: turn id
-- context_band: band of the prompt length
-- context_tokens: prompt length
-- baseline_tokens: output length of the baseline
-- candidate_tokens: output length of the candidate
-- baseline_ttft_ms: time to first token of the baseline, in ms
-- candidate_ttft_ms: time to first token of the candidate, in ms
-- baseline_tpot_ms: time per output token of the baseline, in ms
-- candidate_tpot_ms: time per output token of the candidate, in ms
-- ttft_ratio: baseline / candidate; above 1 the candidate is quicker
-- tpot_ratio: baseline / candidate; above 1 the candidate is quicker; NULL where a path sent all its
--   tokens at once
with last_attempts as (
  select * from captures where arm = 'main'
  qualify row_number() over (partition by run, path, session, turn order by attempt desc) = 1
)
select
  run, session, turn, t.context_band, t.context_tokens,
  b.completion_tokens as baseline_tokens, c.completion_tokens as candidate_tokens,
  b.ttft_ms as baseline_ttft_ms, c.ttft_ms as candidate_ttft_ms,
  b.tpot_ms as baseline_tpot_ms, c.tpot_ms as candidate_tpot_ms,
  nullif(b.ttft_ms, 0) / nullif(c.ttft_ms, 0) as ttft_ratio,
  nullif(b.tpot_ms, 0) / nullif(c.tpot_ms, 0) as tpot_ratio
from (from last_attempts where path = 'candidate' and status = 200) c
join (from last_attempts where path = 'baseline' and status = 200) b using (run, session, turn)
left join turns t using (run, session, turn)
order by run, session, turn
