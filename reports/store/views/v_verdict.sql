-- Verdict of every run, newest first, with what it rests on.
-- run: run id
-- started_at: start of the run, UTC
-- verdict: pass, fail, inconclusive or invalid
-- first_reason: the most important reason
-- errors: findings at severity error
-- warnings: findings at severity warning
-- turns: turns replayed on both paths
-- judged_turns: of them, turns whose tokens could be judged
-- judged_tokens: candidate tokens judged
-- sessions: sessions replayed
-- bounds_open: bounds that are inconclusive
-- controls_missed: planted faults that were not caught
-- method: speculative method of the candidate
-- num_speculative_tokens: drafts per step (k)
-- model: model id
-- vllm_version: vLLM version of the candidate
select
  r.run, r.started_at, r.verdict, r.reasons[1] as first_reason,
  coalesce(f.errors, 0) as errors, coalesce(f.warnings, 0) as warnings,
  coalesce(p.turns, 0) as turns, coalesce(p.judged_turns, 0) as judged_turns,
  coalesce(p.judged_tokens, 0) as judged_tokens, coalesce(s.sessions, 0) as sessions,
  coalesce(b.bounds_open, 0) as bounds_open, coalesce(c.controls_missed, 0) as controls_missed,
  d.method, d.num_speculative_tokens, d.model, d.vllm_version
from runs r
left join (
  select run, count(*) filter (severity = 'error') as errors,
    count(*) filter (severity = 'warning') as warnings
  from findings group by run
) f using (run)
left join (
  select run, count(*) as turns, count(*) filter (judged) as judged_turns,
    coalesce(sum(tokens) filter (judged), 0)::bigint as judged_tokens
  from pairs where comparison = 'candidate' group by run
) p using (run)
left join (select run, count(*) as sessions from sessions group by run) s using (run)
left join (
  select run, count(*) filter (state = 'inconclusive' and turns = 'all') as bounds_open
  from bounds group by run
) b using (run)
left join (
  select run, count(*) filter (state = 'missed') as controls_missed from controls group by run
) c using (run)
left join paths d on d.run = r.run and d.path = 'candidate'
order by r.started_at desc, r.run desc
