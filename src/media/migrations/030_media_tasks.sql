create table media_tasks (
  task_id uuid primary key,
  owner_id uuid not null,
  media_type text not null,
  status text not null check (status in ('pending', 'processing', 'completed', 'failed')),
  metadata jsonb not null,
  -- Of the product's own job, which writes to no row but its own: not to one that an upsert made after a deletion.
  run_id uuid,
  -- Of the video that the run is for.
  asset_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index media_tasks_by_owner on media_tasks (owner_id);
create index media_tasks_by_asset on media_tasks (asset_id) where asset_id is not null;
