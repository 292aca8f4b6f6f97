-- Orders of images that users gave without a run. Videos have a row of their own in agent_videos.
create table agent_generations (
  generation_id uuid primary key,
  owner_id uuid not null,
  -- Of the catalogue.
  model text not null,
  -- The price of one image.
  price integer not null,
  input jsonb not null,
  scope_kind text not null,
  scope_id text not null,
  status text not null check (status in ('running', 'completed', 'failed', 'canceled')),
  -- What was charged, when it has ended.
  credits integer,
  -- Since when its orders may have reached a provider.
  ordered_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);
create index agent_generations_by_owner on agent_generations (owner_id, created_at, generation_id);
create index agent_generations_running on agent_generations (owner_id) where status = 'running';

create table agent_generation_items (
  generation_id uuid not null references agent_generations on delete cascade,
  index integer not null,
  status text not null check (status in ('running', 'completed', 'failed', 'canceled')),
  asset_id uuid,
  failure jsonb,
  primary key (generation_id, index)
);

-- Of the catalogue. Null: ordered before there was one.
alter table agent_videos add column media_model text;
alter table agent_videos add column origin text not null default 'run' check (origin in ('run', 'mcp', 'api'));
alter table agent_videos add column price integer not null default 40;
-- Null: the scope of the thread.
alter table agent_videos add column scope_kind text;
alter table agent_videos add column scope_id text;
update agent_videos set origin = 'mcp' where thread_id like 'mcp-%';
create index agent_videos_listed on agent_videos (resource_id, created_at, video_id);
create index agent_videos_ordered_by_api on agent_videos (resource_id)
  where origin = 'api' and status in ('queued', 'processing');
