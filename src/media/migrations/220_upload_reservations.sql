-- Uploads that were reserved and are not registered yet. Their bytes count toward the quota of their owner.
create table upload_reservations (
  storage_key text not null,
  -- The announced size. 0: unknown.
  declared_bytes bigint not null,
  asset_id uuid not null,
  owner_id uuid not null,
  -- The announced size, or the size of the object since it was first seen.
  byte_size bigint not null,
  -- The size that the URL accepts, for an object of unknown size that was not seen yet.
  held_bytes bigint not null,
  -- The id of the resumable upload. Empty: none was requested.
  upload_id text not null,
  -- The object was first seen. Its own date may be that of its first part.
  seen_at timestamptz,
  expires_at timestamptz not null,
  primary key (storage_key, declared_bytes, upload_id)
);

create index upload_reservations_by_owner on upload_reservations (owner_id) include (byte_size, held_bytes);
create index upload_reservations_by_expiry on upload_reservations (expires_at);
