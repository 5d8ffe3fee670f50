-- How noisy is the baseline against itself, beside the candidate?
-- comparison: candidate (against baseline) or aa (baseline against itself)
-- turns: turns compared
-- tokens: tokens judged
-- forks: turns that fork
-- fork_share: share of turns that fork
-- max_regret: largest regret, in nat
-- none: no turn could be judged
select comparison, count(*) as turns, sum(tokens)::bigint as tokens, count(fork_index) as forks,
  count(fork_index) / count(*) as fork_share, max(max_regret) as max_regret
from pairs where run = $run and judged group by comparison order by comparison desc
