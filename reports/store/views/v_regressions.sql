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
from regressions
order by run, (change is distinct from 'worse'), abs(difference / nullif(high - low, 0)) desc nulls last,
  name, dimension, slice
