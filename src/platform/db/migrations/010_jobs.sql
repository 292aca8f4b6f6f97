-- Work that outlives its process (platform/jobs).
create table jobs (
  job_id uuid primary key default gen_random_uuid(),
  queue text not null,
  -- Of one queue, at most one job with a key is unfinished.
  unique_key text,
  payload jsonb not null,
  status text not null default 'waiting' check (status in ('waiting', 'running', 'done', 'dead')),
  -- Attempts begun; one that was given back does not count.
  attempt integer not null default 0,
  -- Grows with every claim: what a worker writes compares it, so that one that was taken over writes nothing.
  fence bigint not null default 0,
  run_at timestamptz not null default now(),
  -- Of the attempt that runs: the process, and until when it is believed to live.
  holder text,
  expires_at timestamptz,
  -- Of the last attempt that failed.
  reason text,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);

create unique index jobs_unique_key on jobs (queue, unique_key) where status in ('waiting', 'running');
create index jobs_to_claim on jobs (queue, run_at) where status = 'waiting';
create index jobs_to_sweep on jobs (expires_at) where status = 'running';
create index jobs_to_remove on jobs (finished_at) where finished_at is not null;
create index jobs_dead on jobs (queue) where status = 'dead';
