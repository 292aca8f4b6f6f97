-- no transaction
-- Sends that are old enough to be removed.
create index concurrently notify_sends_by_due on notify_sends ((coalesce(scheduled_at, created_at)));
