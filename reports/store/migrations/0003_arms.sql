-- Further arms, and what the servers' metrics said while an arm ran.
create table arms (
  run VARCHAR not null,
  arm VARCHAR not null,
  concurrency INTEGER,
  sessions INTEGER,
  turns INTEGER,
  baseline_in_flight DOUBLE,
  candidate_in_flight DOUBLE,
  repeated BOOLEAN,
  prefix_cache BOOLEAN,
  small_kv BOOLEAN,
  primary key (run, arm)
);

create table server_samples (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  url VARCHAR not null,
  sampled_at TIMESTAMP not null,
  running DOUBLE,
  waiting DOUBLE,
  kv_cache_use DOUBLE,
  preemptions DOUBLE,
  prompt_tokens DOUBLE,
  generation_tokens DOUBLE,
  prefix_queries DOUBLE,
  prefix_hits DOUBLE,
  drafts DOUBLE,
  draft_tokens DOUBLE,
  accepted_tokens DOUBLE,
  accepted_per_position JSON,
  gpu_memory_bytes DOUBLE,
  gpu_utilisation DOUBLE
);
