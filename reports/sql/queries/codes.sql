-- Which finding codes fire, in how many runs, and since when?
-- code: finding code
-- severity: severity
-- runs: runs that show it
-- findings: findings in all
-- first_seen: start of the first run that shows it, UTC
-- last_seen: start of the last run that shows it, UTC
-- none: no check of any run found anything
select f.code, f.severity, count(distinct f.run) as runs, count(*) as findings,
  min(r.started_at) as first_seen, max(r.started_at) as last_seen
from findings f join runs r using (run)
group by f.code, f.severity order by f.severity, findings desc, f.code
