-- Since when an asset is in the trash: listings and other readers do not see it, and it is deleted after 30 days.
alter table assets add column trashed_at timestamptz;
create index assets_trashed on assets (owner_id, created_at desc, asset_id desc) where trashed_at is not null;
create index assets_by_trashing on assets (trashed_at, asset_id) where trashed_at is not null;
