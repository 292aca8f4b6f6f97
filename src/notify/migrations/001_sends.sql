-- Every send that was accepted, until 24 hours later: what an Idempotency-Key is answered from, and what a crash left.
create table notify_sends (
  -- Also what the provider is given as its idempotency key, at every try.
  id uuid primary key,
  endpoint text not null check (endpoint in ('notify', 'emails')),
  idempotency_key text,
  -- Of the request's body; another body under the same key is a conflict.
  body_digest text not null,
  -- pending: its caller waits, or died with its process. failed: its caller was told so.
  status text not null check (status in ('pending', 'sent', 'skipped', 'failed')),
  -- As rendered; gone once it is sent.
  mail jsonb,
  provider_id text,
  skip_reason text,
  -- Rises with every claim: only the newest may write how it went.
  attempt integer not null default 1,
  -- Until then somebody is at it.
  claimed_until timestamptz not null,
  created_at timestamptz not null default now()
);
create unique index notify_sends_by_key on notify_sends (endpoint, idempotency_key) where idempotency_key is not null;
create index notify_sends_pending on notify_sends (claimed_until) where status = 'pending';
create index notify_sends_by_age on notify_sends (created_at);

-- Addresses whose server refused them for good: nothing more is sent to them.
create table suppressed_addresses (
  address text primary key,
  reason text not null,
  created_at timestamptz not null default now()
);
