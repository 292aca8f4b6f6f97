-- The key that signs the identity of users for MCP servers. Public keys of all rows are served, so a key can be replaced.
create table agent_signing_keys (
  kid text primary key,
  private_key jsonb not null,
  created_at timestamptz not null default now()
);
