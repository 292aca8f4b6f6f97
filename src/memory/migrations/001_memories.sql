-- Every write of an entity updates its row here first: that is the lock under which duplicates are looked for, and the
-- version by which every process knows whether what it keeps of the entity is still true. The sequence is one for all, so
-- that an entity which was erased and came back never meets a version it has had before.
create sequence memory_versions;

create table memory_entities (
  entity_type text not null check (entity_type in ('user', 'group')),
  entity_id text not null,
  version bigint not null default nextval('memory_versions'),
  -- Of its memories: a process that kept more than these has missed a deletion.
  memory_count integer not null default 0,
  primary key (entity_type, entity_id)
);

create table memories (
  memory_id uuid primary key default gen_random_uuid(),
  -- In the order of arrival: neighbours were said one after the other; lists go by it.
  seq bigint generated always as identity,
  entity_type text not null,
  entity_id text not null,
  type text not null check (type in ('preference', 'workflow', 'instruction', 'episodic')),
  content text not null,
  -- SHA-256 of the normalised content.
  content_hash bytea not null,
  metadata jsonb not null,
  -- Vectors of two embedders are never compared.
  embedder text not null,
  -- The entity's version when this row was last written.
  version bigint not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (entity_type, entity_id) references memory_entities,
  -- One row per content, whatever runs at once.
  constraint memories_once unique (entity_type, entity_id, type, content_hash)
);

create index memories_by_seq on memories (seq);
create index memories_by_version on memories (entity_type, entity_id, version);
create index memories_by_embedder on memories (embedder);

-- pgvector where the server has it and lets us; otherwise little-endian floats, scanned in process.
do $$
begin
  create extension if not exists vector;
exception when others then
  raise notice 'pgvector is not used: %', sqlerrm;
end
$$;
do $$
begin
  if to_regtype('vector') is not null then
    alter table memories add column embedding vector not null;
  else
    alter table memories add column embedding bytea not null;
  end if;
end
$$;
-- In the row itself as long as it fits the page: a scan of an entity then reads no second table.
alter table memories alter column embedding set storage main;

-- What a memory was before each change, and the wording that did not survive it.
create table memory_revisions (
  memory_id uuid not null references memories on delete cascade,
  number integer not null,
  action text not null check (action in ('merge', 'edit')),
  actor text not null check (actor in ('user', 'server', 'operator')),
  before jsonb not null,
  after jsonb not null,
  -- Of a merge: what was said.
  incoming jsonb,
  similarity double precision,
  embedder text not null,
  created_at timestamptz not null default now(),
  undone_at timestamptz,
  primary key (memory_id, number)
);

create table memory_links (
  memory_id uuid not null references memories on delete cascade,
  other_id uuid not null references memories on delete cascade,
  kind text not null check (kind in ('related', 'conflict')),
  created_at timestamptz not null default now(),
  primary key (memory_id, other_id),
  check (memory_id <> other_id)
);

create index memory_links_by_other on memory_links (other_id);

create table memory_profiles (
  entity_type text not null,
  entity_id text not null,
  seq bigint generated always as identity,
  -- As operators wrote them: locked.
  summary text,
  language text,
  facts jsonb not null default '{}',
  -- Derived from memories: key → { value, evidence: [memory ids] }.
  derived jsonb not null default '{}',
  updated_at timestamptz not null default now(),
  primary key (entity_type, entity_id),
  foreign key (entity_type, entity_id) references memory_entities
);

create index memory_profiles_by_seq on memory_profiles (seq);

-- That an erasure happened. Of whom can only be checked by somebody who knows the id already.
create table memory_erasures (
  erasure_id uuid primary key default gen_random_uuid(),
  salt text not null,
  entity_digest text not null,
  memory_count integer not null,
  created_at timestamptz not null default now()
);
