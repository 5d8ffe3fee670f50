-- Tables of the store. Small ones have primary keys; those that grow with requests and tokens have no
-- index (it would outgrow the data) and are checked for double rows while they are loaded.

create type path_name as enum (
  'baseline', 'candidate'
);

create type verdict_name as enum (
  'pass', 'fail', 'inconclusive', 'invalid'
);

create type severity_name as enum (
  'error', 'warning', 'info'
);

create type label_name as enum (
  'reasoning', 'prose', 'code', 'diff.header', 'diff.context', 'diff.add', 'diff.remove',
  'tool.markup', 'tool.name', 'tool.key', 'tool.string', 'tool.number', 'tool.punct',
  'shell.command', 'shell.output', 'special'
);

create type distance_name as enum (
  '0', '1', '2', '3-7', '8+'
);

create type context_name as enum (
  '0-8k', '8k-16k', '16k-32k', '32k-64k', '64k-128k', '128k+'
);

create type shape_name as enum (
  'decode', 'prefill'
);

create type bound_state as enum (
  'pass', 'fail', 'inconclusive', 'not_applicable'
);

create type control_state as enum (
  'caught', 'missed', 'no_data', 'not_applicable'
);

create type dimension_name as enum (
  'all', 'boundary', 'crossing', 'distance', 'context', 'template', 'tool', 'cached',
  'boundary_context', 'accepted', 'unaligned'
);

create table runs (
  run VARCHAR not null,
  started_at TIMESTAMP not null,
  ended_at TIMESTAMP,
  verdict verdict_name not null,
  reasons VARCHAR[] not null,
  tool_version VARCHAR not null,
  config JSON,
  policy JSON,
  seed BIGINT,
  concurrency INTEGER,
  counts JSON,
  unverified VARCHAR[],
  not_judged VARCHAR[],
  power VARCHAR,
  notes VARCHAR[],
  primary key (run)
);

create table paths (
  run VARCHAR not null,
  path path_name not null,
  url VARCHAR,
  launched BOOLEAN,
  vllm_version VARCHAR,
  model VARCHAR,
  max_model_len INTEGER,
  speculative_config JSON,
  method VARCHAR,
  num_speculative_tokens INTEGER,
  drafter_config JSON,
  flags VARCHAR[],
  tool_parser VARCHAR,
  reasoning_parser VARCHAR,
  dtype VARCHAR,
  block_size INTEGER,
  system_fingerprint VARCHAR,
  template_hash VARCHAR,
  facts JSON,
  primary key (run, path),
  foreign key (run) references runs (run)
);

create table path_differences (
  run VARCHAR not null,
  field VARCHAR not null,
  baseline VARCHAR,
  candidate VARCHAR,
  allowed BOOLEAN not null,
  primary key (run, field)
);

create table sessions (
  run VARCHAR not null,
  session VARCHAR not null,
  format VARCHAR,
  source VARCHAR,
  sha256 VARCHAR,
  template VARCHAR,
  tags MAP(VARCHAR, VARCHAR),
  half VARCHAR,
  turns INTEGER,
  turns_replayed INTEGER,
  primary key (run, session),
  foreign key (run) references runs (run)
);

create table turns (
  run VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  turn_index INTEGER not null,
  thread VARCHAR,
  context_tokens INTEGER,
  context_band context_name,
  tools INTEGER,
  tool_choice VARCHAR,
  temperature DOUBLE,
  max_tokens INTEGER,
  replayable BOOLEAN not null,
  skip_reason VARCHAR,
  fidelity VARCHAR,
  primary key (run, session, turn),
  foreign key (run, session) references sessions (run, session)
);

create table captures (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  attempt UTINYINT not null,
  status INTEGER,
  ended VARCHAR not null,
  finish_reason VARCHAR,
  sent_at TIMESTAMP,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  cached_tokens INTEGER,
  ttft_ms DOUBLE,
  tpot_ms DOUBLE,
  duration_ms DOUBLE,
  max_gap_ms DOUBLE,
  chunks INTEGER,
  bytes BIGINT,
  drafter_steps INTEGER,
  aligned BOOLEAN,
  unaligned_reason VARCHAR,
  error VARCHAR
);

create table tokens (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  attempt UTINYINT not null,
  token_index INTEGER not null,
  id INTEGER,
  text VARCHAR,
  label label_name,
  language VARCHAR,
  logprob FLOAT,
  is_argmax BOOLEAN,
  regret FLOAT,
  regret_shape shape_name,
  step INTEGER,
  alternatives JSON
);

create table steps (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  attempt UTINYINT not null,
  step INTEGER not null,
  drafted UTINYINT not null,
  accepted UTINYINT not null,
  committed UTINYINT,
  first_token INTEGER,
  label label_name
);

create table draft_positions (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  attempt UTINYINT not null,
  step INTEGER not null,
  position UTINYINT not null,
  token_index INTEGER,
  draft_id INTEGER,
  label label_name,
  reached BOOLEAN not null,
  accepted BOOLEAN not null,
  distance distance_name,
  crossing VARCHAR,
  context_band context_name,
  template VARCHAR,
  tool VARCHAR,
  cached BOOLEAN
);

create table tool_calls (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  attempt UTINYINT not null,
  call_index INTEGER not null,
  name VARCHAR,
  arguments VARCHAR,
  arguments_kind VARCHAR,
  parsed BOOLEAN not null,
  known BOOLEAN,
  valid BOOLEAN,
  problem VARCHAR
);

create table pairs (
  run VARCHAR not null,
  comparison VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  judged BOOLEAN not null,
  not_judged VARCHAR,
  tokens INTEGER,
  equal BOOLEAN,
  fork_index INTEGER,
  fork_kind VARCHAR,
  fork_label label_name,
  crossing VARCHAR,
  baseline_text VARCHAR,
  candidate_text VARCHAR,
  fork_regret DOUBLE,
  fork_margin DOUBLE,
  fork_ulp DOUBLE,
  max_regret DOUBLE,
  recurs VARCHAR,
  content_equal BOOLEAN,
  calls_equal BOOLEAN,
  baseline_calls_ok BOOLEAN,
  candidate_calls_ok BOOLEAN
);

create table findings (
  run VARCHAR not null,
  ordinal INTEGER not null,
  code VARCHAR not null,
  severity severity_name not null,
  session VARCHAR,
  turn VARCHAR,
  arm VARCHAR,
  token_index INTEGER,
  boundary VARCHAR,
  message VARCHAR not null,
  cause VARCHAR,
  baseline VARCHAR,
  candidate VARCHAR,
  baseline_too BOOLEAN not null,
  detail JSON,
  case_file VARCHAR,
  primary key (run, ordinal)
);

create table metrics (
  run VARCHAR not null,
  name VARCHAR not null,
  path VARCHAR not null,
  dimension VARCHAR not null,
  slice VARCHAR not null,
  value DOUBLE,
  low DOUBLE,
  high DOUBLE,
  unit VARCHAR,
  formula VARCHAR,
  better VARCHAR,
  n BIGINT,
  sessions INTEGER
);

create table bounds (
  run VARCHAR not null,
  ordinal INTEGER not null,
  name VARCHAR not null,
  state bound_state not null,
  value DOUBLE,
  low DOUBLE,
  high DOUBLE,
  margin DOUBLE,
  noise_floor DOUBLE,
  unit VARCHAR,
  n BIGINT,
  sessions INTEGER,
  needed VARCHAR,
  message VARCHAR not null,
  primary key (run, ordinal)
);

create table controls (
  run VARCHAR not null,
  ordinal INTEGER not null,
  kind VARCHAR not null,
  expected VARCHAR,
  state control_state not null,
  fired VARCHAR[],
  detail VARCHAR,
  primary key (run, ordinal)
);

create table position_sums (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  dimension dimension_name not null,
  slice VARCHAR not null,
  session VARCHAR not null,
  position UTINYINT not null,
  reached BIGINT not null,
  accepted BIGINT not null
);

create table step_sums (
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  dimension dimension_name not null,
  slice VARCHAR not null,
  session VARCHAR not null,
  steps BIGINT not null,
  drafted BIGINT not null,
  accepted BIGINT not null,
  empty_steps BIGINT not null,
  requests BIGINT not null,
  length_sum DOUBLE not null
);

create table loads (
  run VARCHAR not null,
  digest VARCHAR not null,
  loaded_at TIMESTAMP not null,
  rows BIGINT not null,
  primary key (run),
  foreign key (run) references runs (run)
);

create table schema_version (
  version INTEGER not null,
  applied_at TIMESTAMP not null,
  primary key (version)
);
