-- One row: its id keeps the keys of several installations on one Redis apart.
create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);

-- Versions of the caches in Redis. Raised when a change could not reach Redis: all older entries are then invalid.
create table cache_epochs (
  name text primary key,
  epoch bigint not null,
  raised_at timestamptz not null default now()
);
