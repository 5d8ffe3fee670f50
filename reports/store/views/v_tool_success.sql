-- Tool-call success of both paths, paired by turn: a turn succeeds when each of its calls parses,
-- names a known tool and satisfies its schema.
-- run: run id
-- pairs: turns of the main arm in which either path calls a tool
-- sessions: sessions they come from
-- both_ok: both succeed
-- only_baseline_ok: the candidate alone fails
-- only_candidate_ok: the baseline alone fails
-- neither_ok: both fail
-- baseline_rate: success of the baseline
-- candidate_rate: success of the candidate
-- difference: candidate_rate - baseline_rate
-- mcnemar_p: exact two-sided McNemar p-value, from the pairs where one alone fails
select
  run, pairs, sessions, both_ok, only_baseline_ok, only_candidate_ok, neither_ok, baseline_rate,
  candidate_rate, difference, mcnemar_p
from tool_success
order by run
