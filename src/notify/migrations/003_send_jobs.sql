-- Sends are tried by jobs of the queue `notify/send`. Columns of the claims of earlier versions stay until no process of
-- such a version can run beside this one. `infinity` keeps those processes from claiming a row that has a job.
alter table notify_sends
  alter column claimed_until set default 'infinity',
  -- Why the last try failed; null while another one is under way.
  add column failure text,
  drop constraint notify_sends_status_check,
  add constraint notify_sends_status_check check (status in ('pending', 'sending', 'sent', 'skipped', 'failed'));
