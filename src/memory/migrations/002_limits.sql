-- How much an entity holds. A memory's bytes are counted once, when it is written: of its content and its metadata as JSON.
alter table memories add column bytes integer generated always as
  (octet_length(content) + case when metadata = '{}' then 0 else octet_length(metadata::text) end) stored;
alter table memories alter column bytes drop expression;
alter table memories alter column bytes set default 0;
alter table memories alter column bytes set not null;

alter table memory_entities add column memory_bytes bigint not null default 0;
update memory_entities set memory_bytes = held.bytes
from (select entity_type, entity_id, sum(bytes) as bytes from memories group by entity_type, entity_id) as held
where memory_entities.entity_type = held.entity_type and memory_entities.entity_id = held.entity_id;
