-- The names of uploaded files, and the owner's favorites. `prompt_search` holds the words of the prompt and of the name.
alter table assets add column name text, add column is_favorite boolean not null default false;
create index assets_favorite on assets (owner_id, created_at desc, asset_id desc) where is_favorite and ready_at is not null;

-- Named groups of an owner's assets. An asset can be in any number of them.
create table collections (
  collection_id uuid primary key,
  owner_id uuid not null,
  title text not null,
  title_search text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index collections_by_owner on collections (owner_id, updated_at desc, collection_id desc);

create table collection_assets (
  collection_id uuid not null references collections (collection_id) on delete cascade,
  asset_id uuid not null references assets (asset_id) on delete cascade,
  added_at timestamptz not null default now(),
  primary key (collection_id, asset_id)
);
create index collection_assets_by_asset on collection_assets (asset_id);
create index collection_assets_by_age on collection_assets (collection_id, added_at desc, asset_id desc);
