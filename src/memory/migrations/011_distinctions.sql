-- Pairs of contents that were merged once, and separated by undoing it: they never merge again. Both directions are stored.
create table memory_distinctions (
  entity_type text not null,
  entity_id text not null,
  type text not null,
  -- SHA-256 of the normalized contents, as in `memories`.
  content_hash bytea not null,
  other_hash bytea not null,
  primary key (entity_type, entity_id, type, content_hash, other_hash),
  foreign key (entity_type, entity_id) references memory_entities on delete cascade
);
