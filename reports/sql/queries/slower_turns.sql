-- Which turns are slower with the drafter?
-- session: session id
-- turn: turn id
-- context_tokens: prompt length
-- candidate_tokens: output length
-- baseline_tpot_ms: time per output token of the baseline, in ms
-- candidate_tpot_ms: time per output token of the candidate, in ms
-- tpot_ratio: baseline / candidate
-- none: no turn was slower with the drafter, or none has times on both paths
select session, turn, context_tokens, candidate_tokens, baseline_tpot_ms, candidate_tpot_ms,
  tpot_ratio
from v_latency_pairs where run = $run and tpot_ratio < 1
order by tpot_ratio, session, turn limit 50
