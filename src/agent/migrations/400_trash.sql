-- Since when a thread is in the trash: it is in no listing, and is deleted after 30 days.
alter table agent_threads add column trashed_at timestamptz;
create index agent_threads_by_trashing on agent_threads (trashed_at) where trashed_at is not null;
