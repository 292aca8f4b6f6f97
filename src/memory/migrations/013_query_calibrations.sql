-- The vectors of queries are compared in their own way: a share of the mean vector is subtracted from them first.
alter table memory_calibrations add column center jsonb not null default '[]';
alter table memory_calibrations add column query_points jsonb not null default '[]';
