-- What the owner said against an incident, once.
alter table screening_incidents add column appeal text;
alter table screening_incidents add column appealed_at timestamptz;

-- The newest rescreening, for operators.
create table rescreenings (
  is_only boolean primary key default true check (is_only),
  started_at timestamptz not null,
  finished_at timestamptz,
  -- Assets at the start.
  total bigint not null,
  checked bigint not null default 0,
  blocked bigint not null default 0,
  without_digests bigint not null default 0
);
