-- With the size, so that the bytes of an owner are summed from the index alone.
drop index assets_by_age;
create index assets_by_age on assets (owner_id, created_at desc, asset_id desc) include (byte_size) where ready_at is not null;
