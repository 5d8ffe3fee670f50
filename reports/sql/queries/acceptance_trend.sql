-- How has acceptance moved from run to run?
-- model: model id
-- method: speculative method
-- run: run id
-- started_at: start of the run, UTC
-- acceptance_length: 1 + sum(accepted) / sum(steps)
-- low: lower end of its 95% interval
-- high: upper end of its 95% interval
-- none: no run has a candidate that reported its steps
select p.model, p.method, r.run, r.started_at, a.acceptance_length, a.low, a.high
from v_acceptance a join runs r using (run)
left join paths p on p.run = r.run and p.path = 'candidate'
where a.path = 'candidate' and a.arm = 'main'
order by p.model, p.method, r.started_at, r.run
