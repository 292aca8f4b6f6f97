-- no transaction
-- Dead jobs are stored for longer.
create index concurrently jobs_dead_by_end on jobs (finished_at) where status = 'dead';
