-- no transaction
-- No statement uses it.
drop index concurrently if exists jobs_to_remove;
