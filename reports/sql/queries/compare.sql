-- How do the numbers of two runs differ? ($old and $new)
-- name: name of the quantity
-- dimension: what is sliced by
-- slice: the slice
-- old: value in the old run
-- new: value in the new run
-- difference: new - old
-- low: lower end of its 95% interval (MOVER, the runs taken as independent)
-- high: upper end of its 95% interval
-- unit: unit of the numbers
-- change: worse, better or changed, where the interval excludes 0 even when widened for the number
-- of quantities compared (Bonferroni); unclear where only the plain one does; same; NULL where
-- there is no interval
-- none: the two runs share no quantity
with differences as (
  select n.name, n.dimension, n.slice, o.value as old, n.value as new,
    n.value - o.value as difference,
    sqrt((n.value - n.low) ** 2 + (o.high - o.value) ** 2) as down,
    sqrt((n.high - n.value) ** 2 + (o.value - o.low) ** 2) as up,
    n.unit, n.better
  from (from v_quantities where run = $new) n
  join (from v_quantities where run = $old) o using (name, dimension, slice)
)
select name, dimension, slice, old, new, difference, difference - down as low,
  difference + up as high, unit, change_of(difference, down, up, better, count(down) over ()) as change
from differences
order by change is distinct from 'worse', abs(difference / nullif(down + up, 0)) desc nulls last,
  name, dimension, slice
