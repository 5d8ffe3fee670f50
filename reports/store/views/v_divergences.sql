-- Turns whose tokens part from the baseline's, the largest regret first.
-- run: run id
-- comparison: candidate (against baseline) or aa (baseline against itself)
-- session: session id
-- turn: turn id
-- fork_index: token_index of the first divergence
-- fork_kind: near_tie, hard, excused (the baseline does it too) or unscored
-- label: label of the candidate's token there
-- crossing: kind of the last boundary before it
-- baseline_text: the baseline's token
-- candidate_text: the candidate's token
-- regret: regret of the candidate's token at the fork, in nat
-- margin: the candidate's own margin of its token over the baseline's, in nat
-- ulp: regret in units of the last place of a bf16 logit
-- max_regret: largest regret of the turn, in nat
-- recurs: deterministic or intermittent, by re-runs
-- context_tokens: prompt length
-- codes: codes of the findings about this turn
select
  p.run, p.comparison, p.session, p.turn, p.fork_index, p.fork_kind, p.fork_label as label,
  p.crossing, p.baseline_text, p.candidate_text, p.fork_regret as regret,
  p.fork_margin as margin, p.fork_ulp as ulp, p.max_regret, p.recurs, t.context_tokens, f.codes
from pairs p
left join turns t using (run, session, turn)
left join (
  select run, session, turn, list(distinct code order by code) as codes
  from findings group by all
) f on f.run = p.run and f.session = p.session and f.turn = p.turn and p.comparison = 'candidate'
where p.fork_index is not null
order by p.run, p.max_regret desc nulls last, p.session, p.turn
