-- For operators: { requestId, traceId } of the request that ordered the images or the video, as runs have it.
alter table agent_generations add column trace jsonb;
alter table agent_videos add column trace jsonb;
