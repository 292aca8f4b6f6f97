-- Copies under way have no etag yet; those that a process left behind are looked for by their age.
create index assets_being_copied on assets (created_at) where etag = '' and ready_at is null;
