-- Exports that users ordered: one of each user.
create table account_exports (
  export_id uuid primary key default gen_random_uuid(),
  user_id uuid not null unique,
  requested_at timestamptz not null default clock_timestamp(),
  -- Null: it is being prepared.
  ready_at timestamptz,
  expires_at timestamptz,
  is_mailed boolean not null default false,
  -- The parts that count, and the files that they are of. An attempt that was interrupted leaves others.
  content_id uuid,
  files jsonb
);

-- Compressed JSON.
create table account_export_parts (
  export_id uuid not null references account_exports on delete cascade,
  content_id uuid not null,
  file text not null,
  number integer not null,
  bytes bytea not null,
  primary key (export_id, content_id, file, number)
);
