-- Documents that took more memory or time than their process may have. They are not read again. By SHA-256, in hex.
create table agent_unreadable_documents (
  sha256 text primary key,
  created_at timestamptz not null default now()
);
