-- The queue's own handling of a dead job has run, such as a refund, so a retry has no effect.
alter table jobs add column settled boolean not null default false;
-- The dead jobs of a queue, newest first.
create index jobs_dead_by_age on jobs (queue, finished_at desc, job_id) where status = 'dead';
drop index jobs_dead;
-- Operators list deliveries of webhooks in every status. Only this queue has the index, because each change of a job writes to it.
create index jobs_of_webhooks on jobs (created_at desc, job_id) where queue = 'webhooks/deliver';
