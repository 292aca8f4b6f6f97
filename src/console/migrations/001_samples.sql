-- What the console measured, summed up in buckets of a minute and of ten minutes. Old ones are deleted.
create table console_samples (
  width_s integer not null,
  starts_at timestamptz not null,
  -- Subject, such as `agent` or `queue notify/send`, to its named numbers.
  counts jsonb not null,
  primary key (width_s, starts_at)
);

-- The counters of the last reading, of which the next one is compared.
create table console_readings (
  id integer primary key check (id = 1),
  read_at timestamptz not null,
  counters jsonb not null
);
