-- One number for the six columns that name a capture, in the rows that come by the million.
-- The tables of old become views of the same columns (reports/schema/kept.py).
create table capture_keys (
  capture INTEGER not null,
  run VARCHAR not null,
  path path_name not null,
  arm VARCHAR not null,
  session VARCHAR not null,
  turn VARCHAR not null,
  attempt UTINYINT not null
);

create table token_rows (
  capture INTEGER not null,
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

create table step_rows (
  capture INTEGER not null,
  step INTEGER not null,
  drafted UTINYINT not null,
  accepted UTINYINT not null,
  committed UTINYINT,
  first_token INTEGER,
  label label_name
);

create table position_rows (
  capture INTEGER not null,
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

insert into capture_keys
select (row_number() over (order by rowid) - 1)::integer, run, path, arm, session, turn, attempt
from captures;

insert into token_rows
select capture,
  token_index, id, text, label, language, logprob, is_argmax, regret, regret_shape, step,
  alternatives
from tokens join capture_keys using (run, path, arm, session, turn, attempt)
order by tokens.rowid;

drop table tokens;

insert into step_rows
select capture,
  step, drafted, accepted, committed, first_token, label
from steps join capture_keys using (run, path, arm, session, turn, attempt)
order by steps.rowid;

drop table steps;

insert into position_rows
select capture,
  step, position, token_index, draft_id, label, reached, accepted, distance, crossing,
  context_band, template, tool, cached
from draft_positions join capture_keys using (run, path, arm, session, turn, attempt)
order by draft_positions.rowid;

drop table draft_positions;
