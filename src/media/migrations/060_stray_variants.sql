-- What a sweep has still to find a source for: the beginnings of stored variants, by the mark of the store of their sources.
create table stray_variants (
  sweep_id uuid not null,
  mark text not null,
  prefix text not null,
  noted_at timestamptz not null default now(),
  primary key (sweep_id, mark, prefix)
);
