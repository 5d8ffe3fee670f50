-- What changed from every run to the next one of the same model and speculative method.
-- run: run id
-- previous_run: the newest earlier run of the same model and method
-- name: name of the quantity
-- dimension: what is sliced by; all where nothing is
-- slice: the slice
-- previous_value: value in the previous run
-- value: value in this run
-- difference: value - previous_value
-- low: lower end of the difference's 95% interval, the runs taken as independent (MOVER: Zou and
-- Donner 2008)
-- high: upper end of the difference's 95% interval
-- unit: unit of the numbers
-- change: worse, better or changed, where the interval excludes 0 even when widened for the number
-- of quantities compared (Bonferroni); unclear where only the plain interval does; same; NULL where
-- there is no interval
with ordered as (
  select r.run, lag(r.run) over (
    partition by p.model, p.method order by r.started_at, r.run) as previous_run
  from runs r left join paths p on p.run = r.run and p.path = 'candidate'
),
differences as (
  select o.run, o.previous_run, n.name, n.dimension, n.slice, p.value as previous_value, n.value,
    n.value - p.value as difference,
    sqrt((n.value - n.low) ** 2 + (p.high - p.value) ** 2) as down,
    sqrt((n.high - n.value) ** 2 + (p.value - p.low) ** 2) as up,
    n.unit, n.better
  from ordered o
  join v_quantities n on n.run = o.run
  join v_quantities p on p.run = o.previous_run
    and p.name = n.name and p.dimension = n.dimension and p.slice = n.slice
)
select run, previous_run, name, dimension, slice, previous_value, value, difference,
  difference - down as low, difference + up as high, unit,
  change_of(difference, down, up, better, count(down) over (partition by run)) as change
from differences
order by run, (change is distinct from 'worse'), abs(difference / nullif(down + up, 0)) desc nulls last,
  name, dimension, slice
