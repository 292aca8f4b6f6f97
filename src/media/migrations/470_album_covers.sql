-- The image or video that the owner chose as the cover. It counts only while it is in the collection.
alter table collections add column cover_asset_id uuid;
-- When what the share shows was set: at its creation, and by each update.
alter table shares add column shown_at timestamptz;
