-- Runs that wait for the run in progress of their thread. Their questions are not in the thread yet, so the row has them.
alter table agent_runs drop constraint agent_runs_status_check;
alter table agent_runs add constraint agent_runs_status_check
  check (status in ('queued', 'running', 'completed', 'failed', 'aborted'));
alter table agent_runs drop constraint agent_runs_check;
alter table agent_runs add constraint agent_runs_ended_check
  check ((status in ('queued', 'running')) = (ended_at is null));
-- { id, parts, metadata } of the user's message.
alter table agent_runs add column question jsonb;
alter table agent_runs add column rewind_to text;
-- Goes before those that only wait.
alter table agent_runs add column interrupts boolean not null default false;
alter table agent_runs add column queued_at timestamptz;
create index agent_runs_queued on agent_runs (thread_id) where status = 'queued';

-- A repeated request gets the same response.
alter table agent_starts add column queued boolean not null default false;
