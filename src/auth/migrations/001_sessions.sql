-- One refresh per token, on whatever process (docs/specification/auth.md#refresh). A row is a claim while the provider is being asked; then its
-- outcome, for those that wait, and for about ten seconds the answer, sealed, for a second tab.
create table session_refreshes (
  -- SHA-256 of the refresh token.
  token_hash bytea primary key,
  -- Which try this is: who waits tells by it whether the outcome is the one waited for.
  attempt uuid not null,
  outcome text check (outcome in ('ok', 'expired', 'unavailable', 'signed_out')),
  -- Of `ok`: the provider's answer.
  sealed text,
  -- Of `ok`, SHA-256: the token that followed, and whose session it is; for a logout to find what it has to drop.
  successor_hash bytea,
  subject_hash bytea,
  expires_at timestamptz not null
);
create index session_refreshes_by_successor on session_refreshes (successor_hash);
create index session_refreshes_by_subject on session_refreshes (subject_hash);
create index session_refreshes_by_end on session_refreshes (expires_at);

-- Sign-outs that the provider could not be told of yet.
create table session_revocations (
  id uuid primary key default gen_random_uuid(),
  -- The refresh token.
  sealed text not null,
  tries integer not null default 0,
  created_at timestamptz not null default now(),
  next_at timestamptz not null default now()
);
create index session_revocations_by_turn on session_revocations (next_at);
