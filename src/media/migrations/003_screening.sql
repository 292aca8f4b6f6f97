-- Of pictures: the perceptual hash (hex) and how much it says (0–100). Null: not a picture, or not screened yet.
alter table assets add column pdq text;
alter table assets add column pdq_quality smallint;
-- When it passed its screening; a picture is not ready before.
alter table assets add column screened_at timestamptz;

-- What was blocked, and why. Nothing of the picture itself. Written with the refusal of its row.
create table screening_incidents (
  incident_id uuid primary key default gen_random_uuid(),
  asset_id uuid not null,
  owner_id uuid not null,
  scope_kind text not null,
  scope_id text not null,
  kind text not null,
  mime text not null,
  byte_size bigint not null,
  etag text not null,
  sha256 text not null,
  md5 text not null,
  pdq text not null,
  pdq_quality smallint not null,
  -- `digests`, `pdq` or `classifier`.
  check_name text not null,
  -- The list that matched: `sha256`, `md5`, `pdq`, or as the classifier named it.
  list text not null,
  -- The entry of that list (hex), and how many bits the picture differs from it.
  listed text,
  distance smallint,
  -- Where the same bytes went on to lie: the asset, or the legacy file (bucket/path), that they were copied or taken in from.
  origin text,
  created_at timestamptz not null default now(),
  -- However many registrations find it, and however often it is uploaded again.
  unique (asset_id, sha256)
);

create index screening_incidents_by_owner on screening_incidents (owner_id, created_at);
