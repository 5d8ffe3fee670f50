-- Which tools' calls fail, on which path, how, and of how many?
-- name: tool name
-- problem: what is wrong; N stands for numbers, … for the value that is at fault
-- baseline: calls of the baseline with this problem
-- candidate: calls of the candidate with this problem
-- baseline_calls: all calls of this tool by the baseline
-- candidate_calls: all calls of this tool by the candidate
-- none: no tool call failed on either path
with calls as (
  select name, path,
    regexp_replace(
      regexp_replace(problem, '(^|; |: )(''.*?''|".*?"|\[.*?\]|\{.*?\}|\d\S*) (is not|is too|does not)', '\1… \3', 'g'),
      '\d[\d,.]*', 'N', 'g') as problem
  from tool_calls where run = $run and arm = 'main'
), totals as (
  select name, count(*) filter (path = 'baseline') as baseline_calls,
    count(*) filter (path = 'candidate') as candidate_calls
  from calls group by name
)
select name, problem, count(*) filter (path = 'baseline') as baseline,
  count(*) filter (path = 'candidate') as candidate, baseline_calls, candidate_calls
from calls join totals using (name) where problem is not null
group by all order by candidate desc, baseline desc, name, problem
