-- Where in the output do forks gather?
-- boundary: what was being written at the fork
-- crossing: the last boundary before it
-- forks: turns that fork there
-- hard: of them, with a regret far beyond the baseline's noise
-- max_regret: largest regret there, in nat
-- none: no turn diverged from the baseline
select label as boundary, crossing, count(*) as forks,
  count(*) filter (fork_kind = 'hard') as hard, max(regret) as max_regret
from v_divergences where run = $run and comparison = 'candidate'
group by label, crossing order by forks desc, label, crossing
