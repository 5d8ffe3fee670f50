-- How the streams of every path and arm ended.
-- run: run id
-- path: baseline or candidate
-- arm: why the turns were replayed
-- requests: requests sent, repeated attempts included
-- ok: status 200, a finish_reason and the terminal event
-- refused: another HTTP status than 200
-- no_answer: no HTTP answer at all
-- no_finish: status 200, but no finish_reason
-- no_done: status 200, but the terminal event never came
-- timeouts: given up for time
-- client_errors: connections lost or refused, and answers that are no HTTP
-- no_usage: status 200, but no token count from the server
-- unaligned: steps that do not reconcile with the tokens
-- max_gap_ms: longest wait inside a stream, in ms
-- p99_gap_ms: 99th percentile over requests of the longest wait, in ms
select
  c.run, c.path, c.arm, count(*) as requests,
  count(*) filter (status = 200 and finish_reason is not null and ended = 'done') as ok,
  count(*) filter (status <> 200) as refused,
  count(*) filter (status is null) as no_answer,
  count(*) filter (status = 200 and finish_reason is null) as no_finish,
  count(*) filter (status = 200 and ended <> 'done') as no_done,
  count(*) filter (ended = 'timeout') as timeouts,
  count(*) filter (ended not in ('done', 'closed', 'timeout')) as client_errors,
  count(*) filter (status = 200 and completion_tokens is null) as no_usage,
  count(*) filter (not aligned) as unaligned,
  max(max_gap_ms) as max_gap_ms, any_value(m.value) as p99_gap_ms
from captures c
left join (from metrics where name = 'max_gap_ms_p99') m
  on m.run = c.run and m.path = c.path::varchar and m.slice = c.arm
group by all
order by c.run, c.path, c.arm
