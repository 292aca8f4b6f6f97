-- The model that a run was started with, and its price: what a run costs is fixed at its start.
alter table agent_runs add column model text not null default 'unknown';
alter table agent_runs add column credits integer not null default 1;
alter table agent_videos add column model text not null default 'unknown';

-- What each user used, by day (UTC) and model.
create table agent_usage (
  user_id uuid not null,
  day date not null,
  model text not null,
  runs integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  images integer not null default 0,
  videos integer not null default 0,
  credits bigint not null default 0,
  primary key (user_id, day, model)
);
