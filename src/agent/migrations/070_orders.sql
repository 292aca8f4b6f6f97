-- Since when a video has a job: at most AGENT_MAX_VIDEOS_PER_USER of a user have one, the others wait.
alter table agent_videos add column started_at timestamptz;
-- Since when its order may have reached the provider. It is sent once.
alter table agent_videos add column ordered_at timestamptz;
-- What it cost.
alter table agent_videos add column credits integer not null default 0;
update agent_videos set started_at = updated_at where status <> 'failed' or provider_id is not null;
update agent_videos set ordered_at = updated_at where provider_id is not null;
update agent_videos set credits = 40 where status = 'completed';
create index agent_videos_by_owner on agent_videos (resource_id) where status in ('queued', 'processing');

-- Canceled orders and runs of each user and day (UTC) that were free.
create table agent_free_cancels (
  user_id uuid not null,
  day date not null,
  count integer not null,
  primary key (user_id, day)
);

-- Of a failure that programs distinguish.
alter table agent_runs add column error_code text;
