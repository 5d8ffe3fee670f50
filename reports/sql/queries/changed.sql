-- What changed since the last run of the same model and method?
-- name: name of the quantity
-- slice: the slice
-- previous_value: value in the previous run
-- value: value in this run
-- low: lower end of the difference's 95% interval
-- high: upper end of the difference's 95% interval
-- change: worse, better, changed, unclear or same
-- none: nothing changed beyond noise, or no earlier run has this model and method
select name, if(slice = dimension, slice, dimension || ' ' || slice) as slice, previous_value,
  value, low, high, change
from v_regressions where run = $run and change <> 'same'
order by change = 'worse' desc, change, name, dimension, slice
