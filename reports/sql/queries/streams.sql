-- Did every stream end as it should?
-- path: baseline or candidate
-- arm: why the turns were replayed
-- requests: requests sent
-- ok: status 200, a finish_reason and the terminal event
-- no_finish: without finish_reason
-- no_done: without the terminal event
-- timeouts: given up for time
-- client_errors: connections lost or refused, and answers that are no HTTP
-- unaligned: steps that do not reconcile with the tokens
-- none: nothing was sent
select path, arm, requests, ok, no_finish, no_done, timeouts, client_errors, unaligned
from v_stream_integrity where run = $run order by path, arm
