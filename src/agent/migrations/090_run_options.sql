-- What the start of a run sets for it: { media, instructions }. Deleted with the run.
alter table agent_runs add column options jsonb;
