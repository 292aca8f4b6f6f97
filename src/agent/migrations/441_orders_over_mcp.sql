-- Images that MCP clients order are generations.
alter table agent_generations add column origin text not null default 'api' check (origin in ('mcp', 'api'));

-- Earlier versions kept their calls in agent_tool_calls. Those in progress end here: what they did not deliver is free.
with calls as (
  delete from agent_tool_calls returning 'mcp:' || call_id as scope
), released as (
  update credit_ledger set state = 'released', is_canceled = true, updated_at = now()
  from calls where credit_ledger.scope = calls.scope and state = 'reserved'
  returning user_id, amount
), sums as (
  select user_id, sum(amount) as credits from released group by user_id
)
update user_profiles set credits = user_profiles.credits + sums.credits, updated_at = now()
from sums where id = sums.user_id;
