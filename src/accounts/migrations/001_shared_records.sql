-- The operator's records (docs/specification/records.md). Other programs of the operator may write them too and in any order, so that no
-- row asks for another one's presence.
create table user_profiles (
  -- The subject of the user's tokens.
  id uuid primary key,
  -- As the identity provider last told it.
  email text,
  -- One of the 12 content languages; null: never told.
  language text,
  plan text not null default 'free'
    check (plan in ('free', 'basic', 'basic_year', 'pro', 'pro_year', 'max', 'max_year')),
  credits integer not null default 100 check (credits >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index user_profiles_by_email on user_profiles (lower(email));
create index user_profiles_by_age on user_profiles (created_at, id);

create table user_settings (
  user_id uuid primary key,
  is_open_notification boolean not null default true
);

create table referrals (
  inviter_id uuid not null,
  invitee_id uuid not null unique,
  created_at timestamptz not null default now(),
  check (inviter_id <> invitee_id)
);
create index referrals_by_inviter on referrals (inviter_id);

create table feeds (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid,
  media_type text,
  flag text[],
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index feeds_by_age on feeds (created_at, id);

-- Whose first sign-in was seen to: what happens then happens once.
create table onboardings (
  user_id uuid primary key,
  created_at timestamptz not null default now()
);
