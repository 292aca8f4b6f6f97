-- A memory that another one has replaced is invalid: searches and profiles leave it out, and its history stays.
alter table memories add column invalid_at timestamptz;
alter table memories add column replaced_by uuid references memories on delete set null;
create index memories_by_replacement on memories (replaced_by) where replaced_by is not null;

-- A language model judges too, and says why.
alter table memory_revisions add column reason text;
alter table memory_revisions drop constraint memory_revisions_action_check;
alter table memory_revisions add constraint memory_revisions_action_check check (action in ('merge', 'edit', 'replace'));
alter table memory_revisions drop constraint memory_revisions_actor_check;
alter table memory_revisions add constraint memory_revisions_actor_check
  check (actor in ('user', 'server', 'operator', 'model'));

-- Memories that wait for the judge.
create table memory_judgements (
  memory_id uuid primary key references memories on delete cascade,
  due_at timestamptz not null
);

-- Jobs name an entity by this key, so that no job holds its id after the entity was erased.
alter table memory_entities add column judging_key uuid not null default gen_random_uuid();
create unique index memory_entities_by_judging_key on memory_entities (judging_key);

-- Calls of the language model for an entity on its last day with calls, in UTC.
create table memory_model_calls (
  entity_type text not null,
  entity_id text not null,
  day date not null,
  calls integer not null,
  primary key (entity_type, entity_id)
);
