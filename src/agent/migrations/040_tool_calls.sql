-- Calls of tools over MCP while they are in flight. They count toward the runs of their user, and a call whose process died
-- is over once it has expired: its credits go back then.
create table agent_tool_calls (
  call_id uuid primary key,
  owner_id uuid not null,
  expires_at timestamptz not null
);
create index agent_tool_calls_by_owner on agent_tool_calls (owner_id);
create index agent_tool_calls_by_expiry on agent_tool_calls (expires_at);
