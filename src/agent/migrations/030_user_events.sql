-- What users hear of their own account (docs/specification/agent.md#events). Rows are kept for an hour.
create table agent_user_events (
  user_id uuid not null,
  seq bigint not null,
  event jsonb not null,
  created_at timestamptz not null default now(),
  primary key (user_id, seq)
);
create index agent_user_events_by_age on agent_user_events (created_at);

-- The number of each user's newest event. Its row lock makes the order of the numbers the order of the commits, so a reader
-- that has seen a number has seen all smaller ones. Rows stay, because a number is never used twice.
create table agent_user_event_positions (
  user_id uuid primary key,
  last_seq bigint not null
);
