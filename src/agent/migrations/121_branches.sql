-- Versions of a thread from a message on, which a rewind or a choice of another version has replaced. Numbers of messages are never
-- used twice in a thread, so `after_seq` names the version of the message before.
create table agent_branches (
  branch_id uuid primary key,
  thread_id text not null,
  -- Of the last message before the branch; 0: there is none.
  after_seq bigint not null,
  first_seq bigint not null,
  bytes bigint not null,
  created_at timestamptz not null default clock_timestamp()
);
create index agent_branches_by_thread on agent_branches (thread_id, after_seq);

create table agent_branch_messages (
  branch_id uuid not null references agent_branches on delete cascade,
  thread_id text not null,
  id text not null,
  resource_id uuid not null,
  role text not null,
  parts jsonb not null,
  metadata jsonb not null,
  created_at timestamptz not null,
  seq bigint not null,
  bytes integer not null,
  task_id uuid,
  search_text text not null,
  primary key (branch_id, seq)
);
