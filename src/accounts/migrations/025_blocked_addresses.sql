-- Keyed digests of the addresses of blocked accounts. They outlive the accounts, so a new account with the address is blocked too.
create table blocked_addresses (
  address_digest text primary key,
  created_at timestamptz not null default now()
);
insert into blocked_addresses (address_digest)
select distinct encode(sha256(convert_to(secret || ' blocked ' || lower(btrim(email)), 'UTF8')), 'hex')
from user_profiles, unsubscribe_keys where blocked_at is not null and email is not null;
