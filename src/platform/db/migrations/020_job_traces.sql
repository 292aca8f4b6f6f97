-- The request that ordered a job: the job's log lines and spans carry the same ids.
alter table jobs add column request_id text, add column traceparent text;
