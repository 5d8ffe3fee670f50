-- Which templates, tags, tools and context bands are safe, and where does the drafter do better or worse?
-- dimension: template, tag, tool or context
-- slice: the slice
-- verdict: fail, pass or inconclusive, of the slice alone
-- turns: turns of the slice
-- errors: findings at severity error in them
-- regret_p: p-value of its regret rate, Holm-adjusted for all tests of slices
-- tool_p: p-value of its loss of tool-call success, adjusted alike
-- acceptance_length: mean acceptance length
-- acceptance_low: lower end of its difference to the rest of the run, for all slices at once
-- acceptance_high: upper end of that difference
-- acceptance: lower, higher or alike, by that interval
-- none: the run judged no slices
select dimension, slice, verdict, turns, errors, regret_p, tool_p, acceptance_length, acceptance_low,
  acceptance_high, acceptance_change as acceptance
from v_slices where run = $run
order by case verdict when 'fail' then 0 else 1 end, dimension, acceptance_length, slice
