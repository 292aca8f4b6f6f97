-- Of the request that ordered a job: what is done for it is told under the same ids.
alter table jobs add column request_id text, add column traceparent text;
