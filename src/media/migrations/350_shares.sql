-- Pages of an asset or a conversation that anyone with the URL can read.
create table shares (
  share_id text primary key,
  owner_id uuid not null,
  -- One of both. The deletion of the asset ends its share.
  asset_id uuid references assets (asset_id) on delete cascade,
  thread_id text,
  -- The conversation as it was when it was shared.
  snapshot jsonb,
  show_prompt boolean not null,
  is_indexed boolean not null,
  show_attachments boolean not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  check ((asset_id is null) <> (thread_id is null)),
  check ((thread_id is null) = (snapshot is null))
);

create unique index shares_by_asset on shares (asset_id) where asset_id is not null;
create unique index shares_by_thread on shares (owner_id, thread_id) where thread_id is not null;
create index shares_by_owner on shares (owner_id, created_at, share_id);
create index shares_indexed on shares (created_at, share_id) where is_indexed;
create index shares_by_expiry on shares (expires_at) where expires_at is not null;

-- What everyone can find: copies in the feed, newest first.
create index assets_in_feed on assets (created_at, asset_id) where scope_kind = 'feed' and ready_at is not null;
