-- How much a thread holds. A message's bytes are counted once, when it is written: of its parts and metadata as JSON.
alter table agent_messages add column bytes integer generated always as
  (octet_length(parts::text) + octet_length(metadata::text)) stored;
alter table agent_messages alter column bytes drop expression;
alter table agent_messages alter column bytes set default 0;
alter table agent_messages alter column bytes set not null;

alter table agent_threads add column message_count integer not null default 0;
alter table agent_threads add column message_bytes bigint not null default 0;
update agent_threads set message_count = held.count, message_bytes = held.bytes
from (select thread_id, count(*) as count, sum(bytes) as bytes from agent_messages group by thread_id) as held
where agent_threads.thread_id = held.thread_id;

-- The runs that a user has in flight are counted at each start.
create index agent_runs_by_owner on agent_runs (owner_id) where status = 'running';
