-- Where do engine steps not reconcile with the tokens?
-- reason: why not
-- captures: captures
-- steps: steps they report
-- none: every step reconciles with the tokens
select unaligned_reason as reason, count(*) as captures, sum(drafter_steps)::bigint as steps
from captures where run = $run and not aligned group by all order by captures desc, reason
