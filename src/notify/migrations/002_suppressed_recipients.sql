-- The recipients that a sent mail did not go to, for repeats of its key; null: none.
alter table notify_sends add column suppressed jsonb;
