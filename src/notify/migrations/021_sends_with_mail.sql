-- no transaction
-- Mails that were not sent, and are dropped after a day.
create index concurrently notify_sends_with_mail on notify_sends ((coalesce(scheduled_at, created_at))) where mail is not null;
