-- Which recorded turns were not replayed, and why?
-- skip_reason: why
-- turns: turns
-- sessions: sessions they belong to
-- longest: longest prompt among them, in tokens
-- none: every recorded turn was replayed
select skip_reason, count(*) as turns, count(distinct session) as sessions,
  max(context_tokens) as longest
from turns where run = $run and not replayable group by skip_reason order by turns desc, skip_reason
