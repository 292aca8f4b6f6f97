-- What operators pay, in US dollars.
alter table agent_usage_totals add column cost_usd double precision not null default 0;
alter table agent_usage_months add column cost_usd double precision not null default 0;
-- Of one video of its model.
alter table agent_videos add column cost_usd double precision;
-- Of an image that is ordered, by the reference and the scope of its reservation. Counted if it is delivered.
create table agent_image_costs (
  reference text primary key,
  scope text not null,
  cost_usd double precision not null
);
create index agent_image_costs_by_scope on agent_image_costs (scope);
