/** Which shares of a budget are reported. Processes and crashes: test/agent/budgets.nightly.test.ts. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import type { AgentTables } from '../tables.ts';
import type { Budget } from './api.ts';
import { changeBudget, insertReached, listBudgets } from './budgetstore.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
});
afterAll(() => database.close());
beforeEach(async () => {
  await sql`truncate agent_usage_totals, agent_budgets_reached, agent_budgets`.execute(db());
});

const db = () => database.queries<AgentTables>();
const daily = (budgetUsd: number): Budget => ({ period: 'day', budgetUsd });
const monthly = (budgetUsd: number): Budget => ({ period: 'month', budgetUsd });
async function reached(budgets: readonly Budget[], lookBackS = 0) {
  const rows = await transaction(db(), (tx) => insertReached(tx, budgets, [50, 80, 100], lookBackS));
  return rows.map(({ period, percent, spentUsd }) => [period, percent, spentUsd]);
}
const spend = (usd: number, model: string, day = sql`(now() at time zone 'UTC')::date`) =>
  sql`insert into agent_usage_totals (day, model, plan, slot, cost_usd) values (${day}, ${model}, 'pro', 0, ${usd})`.execute(
    db(),
  );

describe('a share of a budget', () => {
  it('is reported when the sum of all models reaches it, once', async () => {
    await spend(0.1, 'one');
    await spend(0.049_999, 'two');
    expect(await reached([daily(0.3)])).toEqual([]);
    await spend(0.000_001, 'three');
    expect(await reached([daily(0.3)])).toEqual([['day', 50, 0.15]]);
    expect(await reached([daily(0.3)])).toEqual([]);
    await spend(0.2, 'four');
    expect(await reached([daily(0.3), monthly(100)])).toEqual([
      ['day', 80, 0.35],
      ['day', 100, 0.35],
    ]);
    expect(await reached([daily(0.3), monthly(0.7)])).toEqual([['month', 50, 0.35]]);
  });

  it('is reported if an earlier transaction did not commit', async () => {
    await spend(5, 'one');
    const died = new Error('the process dies');
    const dying = transaction(db(), async (tx) => {
      expect(await insertReached(tx, [daily(10)], [50], 0)).toHaveLength(1);
      throw died;
    });
    await expect(dying).rejects.toBe(died);
    expect(await reached([daily(10)])).toEqual([['day', 50, 5]]);
  });

  it('is reported again after a raise, and not after a lower budget', async () => {
    await spend(8, 'one');
    expect(await reached([daily(10)])).toHaveLength(2);
    expect(await reached([daily(8)])).toEqual([['day', 100, 8]]);
    expect(await reached([daily(9)])).toEqual([]);
    expect(await reached([daily(16)])).toEqual([['day', 50, 8]]);
    expect(await reached([daily(10)])).toEqual([]);
  });

  it('of a period that has just ended is reported', async () => {
    const longAgo = 86_400;
    await spend(8, 'late', sql`(now() at time zone 'UTC')::date - 1`);
    await spend(1, 'early');
    expect(await reached([daily(10)])).toEqual([]);
    expect(await reached([daily(10)], longAgo)).toEqual([
      ['day', 50, 8],
      ['day', 80, 8],
    ]);
  });
});

it('budgets have what is spent of them, rounded down, and no other month', async () => {
  await spend(99.99, 'one');
  await spend(1000, 'old', sql`(date_trunc('month', now() at time zone 'UTC') - interval '1 day')::date`);
  await spend(1000, 'next', sql`(date_trunc('month', now() at time zone 'UTC') + interval '1 month')::date`);
  const { rows } = await sql<{ day: string; month: string }>`
    select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as day, to_char(now() at time zone 'UTC', 'YYYY-MM-01') as month`.execute(
    db(),
  );
  expect(await listBudgets(db(), [monthly(80), daily(100)])).toEqual([
    { period: 'day', start: rows[0]?.day, budgetUsd: 100, changedAt: null, spentUsd: 99.99, percent: 99 },
    { period: 'month', start: rows[0]?.month, budgetUsd: 80, changedAt: null, spentUsd: 99.99, percent: 124 },
  ]);
  expect(await listBudgets(db(), [])).toEqual([]);
});

it('a change by an operator replaces the setting, and is in the audit log', async () => {
  const change = (budgetUsd: number | null) =>
    changeBudget(db(), [daily(10)], { period: 'day', budgetUsd, actor: 'chief@example.com' });
  await spend(8, 'one');
  await change(16);
  expect(await listBudgets(db(), [daily(10), monthly(100)])).toMatchObject([
    { period: 'day', budgetUsd: 16, changedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), percent: 50 },
    { period: 'month', budgetUsd: 100, changedAt: null, percent: 8 },
  ]);
  expect(await reached([daily(10)])).toEqual([['day', 50, 8]]);
  await change(8);
  expect(await reached([])).toEqual([
    ['day', 80, 8],
    ['day', 100, 8],
  ]);
  await change(null);
  expect([await listBudgets(db(), [daily(1)]), await reached([daily(1)])]).toEqual([[], []]);
  const { rows } = await sql`select actor, action, target from operator_actions order by action_id`.execute(db());
  const recorded = { actor: 'chief@example.com', action: 'PUT /usage/budgets/:period' };
  const amounts = ['10 USD to 16 USD', '16 USD to 8 USD', '8 USD to none'];
  expect(rows).toEqual(amounts.map((change) => ({ ...recorded, target: `budget of the day: ${change}` })));
});
