-- What became of each mail, and mails for later.
alter table notify_sends
  drop constraint notify_sends_endpoint_check,
  add constraint notify_sends_endpoint_check check (endpoint in ('notify', 'emails', 'batch')),
  drop constraint notify_sends_status_check,
  add constraint notify_sends_status_check
    check (status in ('pending', 'sending', 'sent', 'skipped', 'failed', 'canceled')),
  -- Not before; null: at once.
  add column scheduled_at timestamptz,
  -- Stay when the mail is dropped; null for sends of earlier versions.
  add column subject text,
  add column recipients jsonb,
  add column tags jsonb;
create index notify_sends_by_provider_id on notify_sends (provider_id) where provider_id is not null;

create table notify_events (
  event_id bigint generated always as identity primary key,
  -- Of our own events the send. The provider names a mail by its own id, and may do so before we have stored that.
  send_id uuid,
  provider_id text,
  type text not null,
  reason text,
  -- Of the provider's message: the same one may arrive twice.
  source_id text unique,
  created_at timestamptz not null default now()
);
create index notify_events_by_send on notify_events (send_id) where send_id is not null;
create index notify_events_by_provider_id on notify_events (provider_id) where provider_id is not null;
create index notify_events_by_age on notify_events (created_at);
