-- Which bounds are not decided, and how much more data would decide them?
-- name: name of the bound
-- state: fail or inconclusive
-- value: point estimate
-- high: upper limit
-- margin: what it is compared with
-- noise_floor: the same quantity of the baseline against itself
-- needed: how much more data would decide
-- none: every bound that applies lies inside its margin
select name, state, value, high, margin, noise_floor, needed
from bounds where run = $run and turns = 'all' and state in ('fail', 'inconclusive') order by ordinal
