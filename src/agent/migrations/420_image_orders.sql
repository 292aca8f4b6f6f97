-- An image that is ordered, until its order ends: which model it counts for, and why it failed, in the words of the provider.
-- `cost_usd` is null for models without a price. `model` is null for orders of earlier versions.
alter table agent_image_costs alter column cost_usd drop not null;
alter table agent_image_costs add column model text;
alter table agent_image_costs add column answer text;
-- For operators, of runs that made images.
create index agent_runs_with_images on agent_runs (created_at desc, task_id desc) where (record->'images') is not null;
