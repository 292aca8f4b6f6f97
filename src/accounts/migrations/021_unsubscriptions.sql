-- Uses of the links in mails. Each holds for the user and for the address that the mail went to, of which only a keyed digest is
-- stored. Links of version 1.0 name no address: ''.
create table unsubscriptions (
  user_id uuid not null,
  address_digest text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, address_digest)
);
create index unsubscriptions_by_address on unsubscriptions (address_digest) where address_digest <> '';
