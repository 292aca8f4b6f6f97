-- Since when an operator has blocked the account. Null: it is not blocked.
alter table user_profiles add column blocked_at timestamptz;
create index user_profiles_blocked on user_profiles (created_at, id) where blocked_at is not null;

-- Why operators blocked accounts, those that were unblocked since included.
create table account_blocks (
  user_id uuid not null,
  actor text not null,
  reason text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, created_at)
);
create index account_blocks_by_age on account_blocks (created_at desc);
