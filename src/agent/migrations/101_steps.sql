-- The finished steps of runs in progress, so that another process can go on from the last one. Deleted with the end of the run.
create table agent_steps (
  task_id uuid not null references agent_runs on delete cascade,
  step integer not null,
  -- Of the message: what the model said, its tool calls and their results.
  parts jsonb not null,
  usage jsonb not null,
  answered_by text,
  primary key (task_id, step)
);

-- The tool calls of a step in progress. A row is written before its tool works, so no tool is carried out twice.
create table agent_step_calls (
  task_id uuid not null references agent_runs on delete cascade,
  tool_call_id text not null,
  name text not null,
  is_finished boolean not null default false,
  output jsonb,
  error text,
  primary key (task_id, tool_call_id)
);

-- How often a run has been continued after its process died.
alter table agent_runs add column restarts integer not null default 0;
-- Its process has given it up while draining, so its continuation is no restart.
alter table agent_runs add column handed_over boolean not null default false;
-- Of a run that goes on in an earlier message: the events of its stream that repeat the message.
alter table agent_runs add column replayed integer;
