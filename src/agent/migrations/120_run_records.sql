-- For operators: { requestId, traceId } of the request that started the run.
alter table agent_runs add column trace jsonb;
-- For operators, of a run that has ended: { steps, tools, inputTokens, outputTokens, credits, costUsd, answeredBy, answer }.
alter table agent_runs add column record jsonb;
create index agent_runs_by_start on agent_runs (created_at desc, task_id desc);

-- For operators: the failure in the words of the provider.
alter table agent_generation_items add column answer text;
alter table agent_videos add column answer text;
create index agent_generations_by_start on agent_generations (created_at desc, generation_id desc);
create index agent_videos_by_start on agent_videos (created_at desc, video_id desc);
