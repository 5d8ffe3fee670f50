-- Tool-call success of both paths, paired by turn: a turn succeeds when each of its calls parses,
-- names a known tool and satisfies its schema.
-- run: run id
-- pairs: turns with tools, judged on both paths
-- both_ok: both succeed
-- only_baseline_ok: the candidate alone fails
-- only_candidate_ok: the baseline alone fails
-- neither_ok: both fail
-- baseline_rate: success of the baseline
-- candidate_rate: success of the candidate
-- difference: candidate_rate - baseline_rate
-- mcnemar_p: exact two-sided McNemar p-value, from the pairs where one alone fails
select
  run, count(*) as pairs,
  count(*) filter (baseline_calls_ok and candidate_calls_ok) as both_ok,
  count(*) filter (baseline_calls_ok and not candidate_calls_ok) as only_baseline_ok,
  count(*) filter (candidate_calls_ok and not baseline_calls_ok) as only_candidate_ok,
  count(*) filter (not candidate_calls_ok and not baseline_calls_ok) as neither_ok,
  avg(baseline_calls_ok::int) as baseline_rate,
  avg(candidate_calls_ok::int) as candidate_rate,
  avg(candidate_calls_ok::int) - avg(baseline_calls_ok::int) as difference,
  mcnemar_p(
    count(*) filter (baseline_calls_ok and not candidate_calls_ok),
    count(*) filter (candidate_calls_ok and not baseline_calls_ok)) as mcnemar_p
from pairs
where comparison = 'candidate' and baseline_calls_ok is not null and candidate_calls_ok is not null
group by run
order by run
