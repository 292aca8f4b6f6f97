-- Leases, their holders and when they expire (lease.ts). Rows are never deleted: the fence grows with every new holder.
create table leases (
  name text primary key,
  holder text not null,
  fence bigint not null,
  expires_at timestamptz not null
);
