-- Operators look people up by the beginning of an address.
create index user_profiles_by_email_start on user_profiles (lower(email) text_pattern_ops);

-- What operators changed about plans and credits, and why.
create table credit_changes (
  -- The caller names it, so that a repeated request changes nothing.
  change_id uuid primary key,
  user_id uuid not null,
  actor text not null,
  reason text not null,
  plan_before text not null,
  plan_after text not null,
  credits_before integer not null,
  credits_after integer not null,
  created_at timestamptz not null default now()
);
create index credit_changes_by_user on credit_changes (user_id, created_at desc);
