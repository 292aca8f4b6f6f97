-- What all users used, by day (UTC), model and plan. Each user's changes go to one of 16 rows, so that runs that end at the same time
-- rarely wait for each other.
create table agent_usage_totals (
  day date not null,
  model text not null,
  plan text not null,
  slot smallint not null,
  runs bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  images bigint not null default 0,
  videos bigint not null default 0,
  credits bigint not null default 0,
  primary key (day, model, plan, slot)
);

-- What each user used in a month (UTC; the first day stands for it).
create table agent_usage_months (
  user_id uuid not null,
  month date not null,
  runs bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  credits bigint not null default 0,
  primary key (user_id, month)
);
create index agent_usage_months_by_credits on agent_usage_months (month, credits desc, user_id);

-- Usage of earlier versions counts for the current plan of its user.
insert into agent_usage_totals
select day, model, coalesce(plan, 'free'), 0, sum(runs), sum(input_tokens), sum(output_tokens), sum(images), sum(videos), sum(agent_usage.credits)
from agent_usage left join user_profiles on user_profiles.id = agent_usage.user_id
group by day, model, coalesce(plan, 'free');

insert into agent_usage_months
select user_id, date_trunc('month', day)::date, sum(runs), sum(input_tokens), sum(output_tokens), sum(credits)
from agent_usage group by user_id, date_trunc('month', day);
