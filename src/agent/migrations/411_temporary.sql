-- A temporary thread is in no listing, and is deleted 24 hours after its last message.
alter table agent_threads add column temporary boolean not null default false;
create index agent_threads_temporary on agent_threads (updated_at) where temporary;
