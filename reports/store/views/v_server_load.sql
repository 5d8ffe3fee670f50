-- What the servers' metrics said while each arm ran, over all servers of a path.
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
  select run, path, arm, sampled_at, running, waiting, kv_cache_use, gpu_memory_bytes,
    gpu_utilisation,
    grown(lag(preemptions) over w, preemptions) as preempted,
    grown(lag(generation_tokens) over w, generation_tokens) as generated,
    grown(lag(prefix_queries) over w, prefix_queries) as looked_up,
    grown(lag(prefix_hits) over w, prefix_hits) as found,
    grown(lag(drafts) over w, drafts) as drafted,
    grown(lag(accepted_tokens) over w, accepted_tokens) as accepted
  from server_samples
  window w as (partition by run, path, arm, url order by sampled_at)
)
select
  run, path, arm, epoch(max(sampled_at) - min(sampled_at)) as seconds,
  max(running) as max_running, max(waiting) as max_waiting, max(kv_cache_use) as max_kv_cache_use,
  sum(preempted) as preemptions, sum(generated) as generated_tokens,
  sum(found) / nullif(sum(looked_up), 0) as prefix_hit_share, sum(drafted) as drafts,
  sum(accepted) / nullif(sum(drafted), 0) as accepted_per_draft,
  max(gpu_memory_bytes) as max_gpu_memory_bytes, avg(gpu_utilisation) as mean_gpu_utilisation
from steps
group by run, path, arm
order by run, path, arm
