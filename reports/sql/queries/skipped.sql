-- Which recorded turns were not replayed, and why?
-- skip_reason: why; N stands for numbers that differ between turns
-- turns: turns
-- sessions: sessions they belong to
-- longest: longest prompt among them, in tokens
-- none: every recorded turn was replayed
select regexp_replace(skip_reason, '\d[\d,.]*', 'N', 'g') as skip_reason,
  count(*) as turns, count(distinct session) as sessions, max(context_tokens) as longest
from turns where run = $run and not replayable group by all order by turns desc, skip_reason
