-- no transaction
-- Completed jobs that are old enough to be removed.
create index concurrently jobs_done_by_end on jobs (finished_at) where status = 'done';
