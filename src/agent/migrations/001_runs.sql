create table agent_threads (
  thread_id text primary key,
  owner_id uuid not null,
  -- Of its messages; the row's lock puts starts and ends of runs in order.
  last_seq bigint not null default 0,
  created_at timestamptz not null default now()
);

create table agent_runs (
  task_id uuid primary key,
  thread_id text not null,
  owner_id uuid not null,
  -- Of the answer: what the stream's `start` says, and the row in agent_messages after the end.
  message_id text not null,
  status text not null check (status in ('running', 'completed', 'failed', 'aborted')),
  error text,
  abort_requested boolean not null default false,
  -- Who works on it, until when that is sure, and the number that grows at every change of hands.
  holder uuid not null,
  lease_expires_at timestamptz not null,
  fence bigint not null default 1,
  -- The first half of its event ids.
  epoch_ms bigint not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz,
  check ((status = 'running') = (ended_at is null))
);
-- The lock of a thread: one run at a time (docs/specification/agent.md#runs).
create unique index agent_runs_one_per_thread on agent_runs (thread_id) where status = 'running';
create index agent_runs_by_lease on agent_runs (lease_expires_at) where status = 'running';
create index agent_runs_by_end on agent_runs (ended_at) where ended_at is not null;

-- Messages as the AI SDK's v5 client keeps them; `parts` verbatim.
create table agent_messages (
  thread_id text not null,
  id text not null,
  resource_id uuid not null,
  role text not null check (role in ('user', 'assistant')),
  parts jsonb not null,
  metadata jsonb not null,
  created_at timestamptz not null default now(),
  seq bigint not null,
  primary key (thread_id, id),
  unique (thread_id, seq)
);

-- The event log, where no Redis is: a row for each batch, one event a line.
create table agent_events (
  task_id uuid not null,
  first_seq integer not null,
  last_seq integer not null,
  events text not null,
  is_last boolean not null,
  primary key (task_id, last_seq)
);

create table agent_videos (
  video_id uuid primary key,
  resource_id uuid not null,
  thread_id text not null,
  task_id uuid not null,
  message_id text not null,
  tool_call_id text not null,
  input jsonb not null,
  status text not null check (status in ('queued', 'processing', 'completed', 'failed')),
  failure_code text,
  failure_message text,
  -- Grows with every retry; names the credits and the job of that try.
  attempt integer not null default 1,
  -- At the provider: a worker that takes over asks on instead of ordering again.
  provider_id text,
  asset_id uuid,
  thumb_asset_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (task_id, tool_call_id),
  check ((status = 'failed') = (failure_code is not null))
);
