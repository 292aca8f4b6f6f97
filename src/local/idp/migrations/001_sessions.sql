-- The local identity provider's sign-ins and sessions. Empty wherever the real provider is used. Tokens stand here as they
-- are, as in GoTrue: a refresh that is repeated has to give the same token again.
create table idp_flows (
  id uuid primary key default gen_random_uuid(),
  provider text not null,
  redirect_to text not null,
  challenge text not null,
  challenge_method text not null check (challenge_method in ('s256', 'plain')),
  created_at timestamptz not null default now(),
  -- Once somebody has consented:
  code uuid unique,
  email text,
  consented_at timestamptz
);

create table idp_sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  email text not null,
  created_at timestamptz not null default now()
);
create index idp_sessions_by_user on idp_sessions (user_id);

create table idp_refresh_tokens (
  token text primary key,
  session_id uuid not null references idp_sessions (id) on delete cascade,
  parent text,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index idp_refresh_tokens_by_session on idp_refresh_tokens (session_id);
