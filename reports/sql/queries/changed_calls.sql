-- Which turns make other calls than the baseline, and does that matter?
-- comparison: candidate, aa (the baseline against itself) or a further arm
-- session: session id
-- turn: turn id
-- change: spelling (JSON equal), cosmetic or consequential
-- equal_tokens: yes: the same tokens, delivered as other calls
-- fork_kind: near_tie, hard, excused or unscored
-- fork_regret: regret of the candidate's token where the two part, in nat
-- baseline_calls: the baseline's calls
-- calls: the calls it is compared with
-- none: every turn that both paths answered makes the same calls
select comparison, session, turn, change, equal_tokens, fork_kind, fork_regret, baseline_calls, calls
from v_changed_calls where run = $run
order by change = 'consequential' desc, comparison desc, session, turn
