-- The library of an owner, newest first.
create index assets_by_age on assets (owner_id, created_at desc, asset_id desc) where ready_at is not null;
