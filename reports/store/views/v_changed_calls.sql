-- Turns whose calls differ from the baseline's, each with both lists of calls.
-- run: run id
-- comparison: candidate, aa (the baseline against itself) or a further arm
-- session: session id
-- turn: turn id
-- change: spelling (JSON equal), cosmetic or consequential
-- equal_tokens: true: the same tokens, delivered as other calls
-- fork_kind: near_tie, hard, excused or unscored; NULL: no fork
-- fork_regret: regret of the candidate's token where the two part, in nat
-- baseline_calls: name and arguments of the baseline's calls; NULL: none
-- calls: those it is compared with; NULL: none
with made as (
  select run, session, turn, path, arm,
    string_agg(coalesce(name, '?') || ' ' || coalesce(arguments, ''), '; ' order by call_index)
      as calls
  from tool_calls group by run, session, turn, path, arm
)
select p.run, p.comparison, p.session, p.turn, p.calls_change as change, p.equal as equal_tokens,
  p.fork_kind, p.fork_regret, b.calls as baseline_calls, c.calls
from pairs p
left join made b on b.run = p.run and b.session = p.session and b.turn = p.turn
  and b.path = 'baseline'
  and b.arm = if(p.comparison in ('candidate', 'aa'), 'main', regexp_replace(p.comparison, '-aa$', ''))
left join made c on c.run = p.run and c.session = p.session and c.turn = p.turn
  and c.path = if(p.comparison = 'aa' or p.comparison like '%-aa', 'baseline', 'candidate')
  and c.arm = if(p.comparison = 'candidate', 'main', p.comparison)
where p.calls_change <> 'same'
order by p.run, p.calls_change = 'consequential' desc, p.comparison desc, p.session, p.turn
