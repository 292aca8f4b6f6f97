-- What was taken from a balance and why: reserved before the work, then settled (it stays taken) or released (it goes back).
create table credit_ledger (
  -- Names the work, so that whatever repeats it takes nothing twice.
  reference text primary key,
  -- What the work belongs to: closed as a whole, also after a crash.
  scope text not null,
  user_id uuid not null,
  amount integer not null check (amount > 0),
  state text not null check (state in ('reserved', 'settled', 'released')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index credit_ledger_open on credit_ledger (scope) where state = 'reserved';
create index credit_ledger_by_user on credit_ledger (user_id, created_at);
