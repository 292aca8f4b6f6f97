-- What operators pay for the usage of a user, in US dollars, as the totals have it: images of a conversation included.
alter table agent_usage add column cost_usd double precision not null default 0;
-- Of the days that pages show. Earlier versions stored the cost of a month, which is shared out by the credits of its days.
update agent_usage set cost_usd = agent_usage_months.cost_usd * agent_usage.credits / agent_usage_months.credits
from agent_usage_months
where agent_usage_months.user_id = agent_usage.user_id and agent_usage_months.credits > 0
  and month = date_trunc('month', day)::date and day >= (now() at time zone 'UTC')::date - 62;
