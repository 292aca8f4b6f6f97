-- One row: by its id several installations share one Redis without meeting.
create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);

-- What caches in Redis are worth. Raised when Redis could not be told of a change: all that was cached before is void.
create table cache_epochs (
  name text primary key,
  epoch bigint not null,
  raised_at timestamptz not null default now()
);
