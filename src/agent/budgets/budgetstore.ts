/** Spending by period, from the totals of all users, and the shares of budgets that operators were notified of. */
import { sql } from 'kysely';
import { auditOf, recordAction } from '#platform/audit/audit.ts';
import { type Db, holdName, type Tx, transaction } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';
import type { Budget, BudgetList, Period } from './api.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

/** Of each budget, in the periods of now and of `lookBackS` ago. `budgets`: the settings. */
const spentIn = (budgets: readonly Budget[], lookBackS: number) => sql`
  budget as (
    select * from agent_budgets
    union all
    select *, null from unnest(
      ${budgets.map(({ period }) => period)}::text[], ${budgets.map(({ budgetUsd }) => budgetUsd)}::float8[]
    ) as setting (period, budget_usd) where period not in (select period from agent_budgets)
  ),
  looked as (
    select distinct budget.*, date_trunc(period, moment)::date as starts_on
    from budget, (values (now() at time zone 'UTC'), (now() at time zone 'UTC' - make_interval(secs => ${lookBackS}))) as look (moment)
    where budget_usd is not null
  ),
  spent as (
    select looked.*, (
      select round(coalesce(sum(cost_usd), 0)::numeric, 6) from agent_usage_totals
      where day >= starts_on and day < starts_on + ('1 ' || period)::interval
    ) as spent_usd from looked
  )`;

/** For the current day and month. */
export async function listBudgets(db: Handle, budgets: readonly Budget[]): Promise<BudgetList['budgets']> {
  const { rows } = await sql<BudgetList['budgets'][number]>`
    with ${spentIn(budgets, 0)}
    select period, to_char(starts_on, 'YYYY-MM-DD') as start, budget_usd as "budgetUsd", spent_usd::float8 as "spentUsd",
      to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "changedAt",
      floor(spent_usd * 100 / budget_usd::numeric)::bigint as percent
    from spent order by period`.execute(db);
  return rows;
}

/** From now on, in place of the setting. */
export const changeBudget = (
  db: Db<AgentTables>,
  budgets: readonly Budget[],
  { period, budgetUsd, actor }: { readonly period: Period; readonly budgetUsd: number | null; readonly actor: string },
) =>
  transaction(db, async (tx) => {
    // The second of two changes at the same time records the first as its old value.
    await holdName(tx, 'budgets');
    const before = (await listBudgets(tx, budgets)).find((one) => one.period === period);
    await tx
      .insertInto('agent_budgets')
      .values({ period, budget_usd: budgetUsd })
      .onConflict((oc) => oc.column('period').doUpdateSet({ budget_usd: budgetUsd, changed_at: sql`now()` }))
      .execute();
    const target = `budget of the ${period}: ${amountOf(before?.budgetUsd)} to ${amountOf(budgetUsd)}`;
    await recordAction(auditOf(tx), { actor, action: 'PUT /usage/budgets/:period', target, outcome: 'done' });
  });

const amountOf = (usd: number | null = null) => (usd === null ? 'none' : `${usd} USD`);

export type Reached = Omit<BudgetList['budgets'][number], 'changedAt'>;

/**
 * Returns each share once for its period, the lowest first, and again if the budget was raised since. A concurrent call waits for the end of this
 * transaction, and then returns nothing.
 */
export async function insertReached(
  tx: Tx<AgentTables>,
  budgets: readonly Budget[],
  percents: readonly number[],
  lookBackS: number,
): Promise<readonly Reached[]> {
  const { rows } = await sql<Reached>`
    with ${spentIn(budgets, lookBackS)}
    insert into agent_budgets_reached as known (period, starts_on, percent, budget_usd, spent_usd)
    select period, starts_on, percent, budget_usd, spent_usd::float8
    from spent cross join unnest(${[...percents]}::smallint[]) as share (percent)
    where spent_usd * 100 >= budget_usd::numeric * percent
      -- A row that is there need not be locked.
      and not exists (select 1 from agent_budgets_reached as before
        where (before.period, before.starts_on, before.percent) = (spent.period, spent.starts_on, share.percent)
          and before.budget_usd >= spent.budget_usd)
    order by period, starts_on, percent
    on conflict (period, starts_on, percent) do update
      set budget_usd = excluded.budget_usd, spent_usd = excluded.spent_usd
      where known.budget_usd < excluded.budget_usd
    returning period, to_char(starts_on, 'YYYY-MM-DD') as start, percent, budget_usd as "budgetUsd", spent_usd as "spentUsd"`.execute(
    tx,
  );
  return rows;
}
