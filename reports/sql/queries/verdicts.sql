-- What did the last runs say, and on how much evidence?
-- run: run id
-- started_at: start of the run, UTC
-- verdict: pass, fail, inconclusive or invalid
-- first_reason: the most important reason
-- errors: findings at severity error
-- judged_tokens: candidate tokens judged
-- method: speculative method
-- none: the store holds no run
select run, started_at, verdict, first_reason, errors, judged_tokens, method
from v_verdict order by started_at desc, run desc limit 50
