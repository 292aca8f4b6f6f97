-- Tool calls that wait for a person's approval, or have been answered. The call itself is a part of the message.
create table agent_approvals (
  approval_id uuid primary key,
  thread_id text not null,
  owner_id uuid not null,
  message_id text not null,
  tool_call_id text not null,
  state text not null default 'open' check (state in ('open', 'approved', 'denied')),
  created_at timestamptz not null default now(),
  answered_at timestamptz
);
create index agent_approvals_by_thread on agent_approvals (thread_id);
create index agent_approvals_by_owner on agent_approvals (owner_id);
