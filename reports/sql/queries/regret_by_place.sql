-- Where in the answers do the candidate's tokens cost more than the baseline's own at the same places?
-- dimension: boundary, step or event
-- slice: what the token is part of; its place in the engine step; what stands before it
-- tokens: candidate tokens with a regret, up to the first fork of their turn
-- forks: first forks there
-- mean_regret: of these tokens, in nat
-- noise_mean_regret: of the baseline's repeat at the same places
-- difference: the one less the other
-- low: lower end of its 95% interval, for all slices of the run at once
-- high: upper end of that interval
-- change: higher where the candidate's tokens cost surely more; it changes no verdict
-- none: no greedy token of the run has a regret
select dimension, slice, tokens, forks, mean_regret, noise_mean_regret, difference, low, high, change
from regret_slices where run = $run
order by case change when 'higher' then 0 else 1 end, ordinal
