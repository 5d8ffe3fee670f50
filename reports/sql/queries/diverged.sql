-- Which turns diverged from the baseline, where, and why?
-- session: session id
-- turn: turn id
-- fork_index: token of the first divergence
-- fork_kind: near_tie, hard, excused or unscored
-- label: what was being written
-- baseline_text: the baseline's token
-- candidate_text: the candidate's token
-- regret: regret of the candidate's token, in nat
-- recurs: deterministic or intermittent, by re-runs
-- codes: codes of the findings about this turn
-- none: no turn diverged from the baseline
select session, turn, fork_index, fork_kind, label, baseline_text, candidate_text, regret, recurs,
  codes
from v_divergences where run = $run and comparison = 'candidate'
order by (fork_kind is distinct from 'hard'), regret desc nulls last, session, turn
