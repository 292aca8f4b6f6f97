-- The videos that show a thumbnail: their cached answers go with it.
create index assets_by_thumb on assets (thumb_asset_id) where thumb_asset_id is not null;
