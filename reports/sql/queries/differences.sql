-- In what do the two servers visibly differ?
-- field: what differs
-- baseline: its value on the baseline
-- candidate: its value on the candidate
-- allowed: true where speculation explains it
-- none: the two servers show no difference
select field, baseline, candidate, allowed from path_differences where run = $run
order by allowed, field
