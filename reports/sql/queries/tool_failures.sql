-- Which tools' calls fail, on which path, and how?
-- name: tool name
-- problem: what is wrong
-- baseline: calls of the baseline with this problem
-- candidate: calls of the candidate with this problem
-- none: no tool call failed on either path
select name, problem, count(*) filter (path = 'baseline') as baseline,
  count(*) filter (path = 'candidate') as candidate
from tool_calls where run = $run and arm = 'main' and problem is not null
group by name, problem order by candidate desc, baseline desc, name, problem
