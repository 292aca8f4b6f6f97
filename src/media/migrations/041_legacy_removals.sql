-- Who counts a legacy file that several calls delete at once: the store does not tell which of them removed it.
create table legacy_removals (
  bucket text not null,
  path text not null,
  holder uuid not null,
  claimed_at timestamptz not null default now(),
  primary key (bucket, path)
);
