-- Where a fact was last stated: who added it, and in which conversation. Null: it was added before this was recorded.
alter table memories add column added_by text check (added_by in ('user', 'server', 'operator', 'model'));
alter table memories add column thread_id text;
-- The last pause of an entity. While `resumed_at` is null, it lasts. Work on messages from the time of a pause looks for it later.
alter table memory_entities add column paused_at timestamptz;
alter table memory_entities add column resumed_at timestamptz;
