-- Sessions that users see on their account page. Rows of browsers that stay away are removed with their cookies.
create table browser_sessions (
  -- The identity provider's id of the session, which its access tokens contain.
  session_id uuid primary key,
  user_id uuid not null,
  -- Such as "Firefox on Windows".
  browser text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  -- Null: the user has not ended it.
  ended_at timestamptz
);
create index browser_sessions_by_user on browser_sessions (user_id, used_at desc);
create index browser_sessions_by_use on browser_sessions (used_at);
