-- Threads as users see them: listed, named, searched and deleted.
alter table agent_threads add column title text not null default '';
-- words: the first words of the thread. A title of the model replaces only those, and nothing replaces a title of the user.
alter table agent_threads add column title_source text not null default 'words'
  check (title_source in ('words', 'model', 'user'));
-- When a message was last added. In milliseconds, so that a cursor can hold it exactly.
alter table agent_threads add column updated_at timestamptz not null default date_trunc('milliseconds', now());
-- Since when the thread is being deleted: users no longer see it, and it takes no message.
alter table agent_threads add column deleting_at timestamptz;
alter table agent_threads add column deletes_assets boolean not null default false;

-- The run that a question started, or that an answer is of.
alter table agent_messages add column task_id uuid;
-- The texts of the parts, in lower case, for the search.
alter table agent_messages add column search_text text not null default '';

update agent_messages set search_text = found.text
from (
  select thread_id, id, lower(normalize(string_agg(part->>'text', ' '), NFKC)) as text
  from agent_messages, jsonb_array_elements(parts) as part
  where part->>'type' = 'text'
  group by thread_id, id
) as found
where agent_messages.thread_id = found.thread_id and agent_messages.id = found.id;

update agent_messages set task_id = (metadata->>'taskId')::uuid
where role = 'assistant' and metadata->>'taskId' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
update agent_messages as question set task_id = answer.task_id
from agent_messages as answer
where question.role = 'user' and answer.role = 'assistant'
  and answer.thread_id = question.thread_id and answer.seq = question.seq + 1;
update agent_messages as question set task_id = run.task_id
from agent_runs as run, agent_threads as thread
where run.status = 'running' and run.thread_id = question.thread_id and thread.thread_id = run.thread_id
  and question.seq = thread.last_seq and question.role = 'user';

update agent_threads set
  created_at = least(created_at, coalesce(held.first_at, created_at)),
  updated_at = date_trunc('milliseconds', coalesce(held.last_at, created_at)),
  title = coalesce(held.title, '')
from (
  select
    thread.thread_id,
    min(message.created_at) as first_at,
    max(message.created_at) as last_at,
    (
      select case
        when length(words.text) <= 60 then words.text
        else coalesce(substring(words.text from '^(.{1,60})\s'), left(words.text, 60))
      end
      from (
        select btrim(regexp_replace(string_agg(part->>'text', ' '), '\s+', ' ', 'g')) as text
        from agent_messages as question, jsonb_array_elements(question.parts) as part
        where question.thread_id = thread.thread_id and question.role = 'user' and part->>'type' = 'text'
          and question.seq = (
            select min(seq) from agent_messages where thread_id = thread.thread_id and role = 'user'
          )
      ) as words
    ) as title
  from agent_threads as thread left join agent_messages as message using (thread_id)
  group by thread.thread_id
) as held
where agent_threads.thread_id = held.thread_id;

create index agent_threads_by_owner on agent_threads (owner_id, updated_at desc, thread_id desc)
  where deleting_at is null;
create index agent_threads_deleting on agent_threads (owner_id) where deleting_at is not null;
create index agent_videos_by_thread on agent_videos (thread_id);
create index agent_runs_by_thread on agent_runs (thread_id);

-- The starts of runs that came with an Idempotency-Key.
create table agent_starts (
  user_id uuid not null,
  key text not null,
  -- SHA-256 of the request: another one under the same key is a conflict.
  body_digest text not null,
  task_id uuid not null,
  thread_id text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index agent_starts_by_age on agent_starts (created_at);
