-- Do tool calls succeed as often with the drafter as without?
-- run: run id
-- pairs: turns with tools, judged on both paths
-- baseline_rate: success of the baseline
-- candidate_rate: success of the candidate
-- only_baseline_ok: turns where the candidate alone fails
-- only_candidate_ok: turns where the baseline alone fails
-- mcnemar_p: exact two-sided McNemar p-value
-- none: no run has turns with tools on both paths
select run, pairs, baseline_rate, candidate_rate, only_baseline_ok, only_candidate_ok, mcnemar_p
from v_tool_success order by run
