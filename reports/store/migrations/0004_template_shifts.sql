-- Arms with other prompts, and what they do to acceptance.
alter table arms add column perturb varchar[];

create table template_shifts (
  run VARCHAR not null,
  arm VARCHAR not null,
  dimension dimension_name not null,
  slice VARCHAR not null,
  main_length DOUBLE,
  changed_length DOUBLE,
  difference DOUBLE,
  low DOUBLE,
  high DOUBLE,
  change VARCHAR,
  accepted_share DOUBLE,
  accepted_share_low DOUBLE,
  accepted_share_high DOUBLE,
  conditional DOUBLE[],
  drift DOUBLE,
  drift_low DOUBLE,
  drift_high DOUBLE,
  steps BIGINT,
  sessions INTEGER,
  primary key (run, arm, dimension, slice)
);
