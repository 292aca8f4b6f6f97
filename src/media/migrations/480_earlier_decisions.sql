-- The decisions that later ones replaced, each with its statement and time.
alter table screening_incidents add column earlier jsonb not null default '[]';
