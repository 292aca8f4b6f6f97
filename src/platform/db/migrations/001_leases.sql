-- Who holds what, until when (lease.ts). A row is never deleted: its fence grows with every change of hands.
create table leases (
  name text primary key,
  holder text not null,
  fence bigint not null,
  expires_at timestamptz not null
);
