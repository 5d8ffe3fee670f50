-- Why did outputs end, on both paths?
-- finish_reason: finish_reason of the choice
-- baseline: turns of the baseline
-- candidate: turns of the candidate
-- none: the run has no answers in its main arm
select finish_reason, count(*) filter (path = 'baseline') as baseline,
  count(*) filter (path = 'candidate') as candidate
from captures where run = $run and arm = 'main'
group by finish_reason order by baseline desc, finish_reason
