create table assets (
  asset_id uuid primary key,
  owner_id uuid not null,
  scope_kind text not null,
  scope_id text not null,
  kind text not null,
  -- As the caller named it: what replays are compared with, and what the storage key was made from.
  requested_mime text not null,
  -- As it is served: of images as detected.
  mime text not null,
  -- Where the bytes lie.
  backend text not null check (backend in ('objects', 'legacy')),
  bucket text not null,
  storage_key text not null,
  -- Of the bytes that were looked at; nothing else is marked ready.
  etag text not null,
  byte_size bigint not null,
  -- Of images; hex.
  sha256 text,
  md5 text,
  width integer,
  height integer,
  duration_ms bigint,
  blurhash text,
  -- May name an asset that is not registered yet, so no foreign key.
  thumb_asset_id uuid,
  -- Rises with every change, for caches.
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  -- Null: not to be read by anybody yet.
  ready_at timestamptz,
  -- Set: the object is about to be removed, and the row after it.
  refusal text,
  check (ready_at is null or refusal is null)
);

-- Deletes by owner, by scope kind, by scope.
create index assets_by_scope on assets (owner_id, scope_kind, scope_id);
