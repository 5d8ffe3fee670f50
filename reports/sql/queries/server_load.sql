-- How loaded were the servers while each arm ran?
-- path: baseline or candidate
-- arm: why the turns were replayed
-- max_running: most requests in a server's batch
-- max_waiting: most requests that waited for room
-- max_kv_cache_use: fullest KV cache, as a share
-- preemptions: requests preempted
-- generated_tokens: tokens generated
-- prefix_hit_share: share of looked-up prompt tokens that the prefix cache held
-- none: the servers' /metrics were not read
select path, arm, max_running, max_waiting, max_kv_cache_use, preemptions, generated_tokens,
  prefix_hit_share
from v_server_load where run = $run order by arm, path
