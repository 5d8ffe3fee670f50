-- What the servers' metrics said while each arm ran, over all servers of a path. A counter that fell
-- between two readings was a server started anew, and counts from there on.
-- run: run id
-- path: baseline or candidate
-- arm: why the turns were replayed
-- seconds: from the first to the last reading, in s
-- max_running: most requests in a server's batch
-- max_waiting: most requests that waited for room
-- max_kv_cache_use: fullest KV cache, as a share
-- preemptions: requests preempted
-- generated_tokens: tokens generated
-- prefix_hit_share: share of looked-up prompt tokens that the prefix cache held
-- drafts: steps that drafted
-- accepted_per_draft: draft tokens accepted per such step
-- max_gpu_memory_bytes: most memory in use on this machine's GPUs, in bytes
-- mean_gpu_utilisation: share of time a kernel ran
with steps as (
  select *, preemptions - lag(preemptions) over w as preempted,
    generation_tokens - lag(generation_tokens) over w as generated,
    prefix_queries - lag(prefix_queries) over w as looked_up,
    prefix_hits - lag(prefix_hits) over w as found,
    drafts - lag(drafts) over w as drafted,
    accepted_tokens - lag(accepted_tokens) over w as accepted
  from server_samples
  window w as (partition by run, path, arm, url order by sampled_at)
)
select
  run, path, arm, epoch(max(sampled_at) - min(sampled_at)) as seconds,
  max(running) as max_running, max(waiting) as max_waiting, max(kv_cache_use) as max_kv_cache_use,
  sum(preempted) filter (preempted >= 0) as preemptions,
  sum(generated) filter (generated >= 0) as generated_tokens,
  sum(found) filter (found >= 0) / nullif(sum(looked_up) filter (looked_up >= 0), 0)
    as prefix_hit_share,
  sum(drafted) filter (drafted >= 0) as drafts,
  sum(accepted) filter (accepted >= 0) / nullif(sum(drafted) filter (drafted >= 0), 0)
    as accepted_per_draft,
  max(gpu_memory_bytes) as max_gpu_memory_bytes, avg(gpu_utilisation) as mean_gpu_utilisation
from steps
group by run, path, arm
order by run, path, arm
