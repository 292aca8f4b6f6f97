/**
 * Budgets, with processes on PostgreSQL: each share is reported once, by a webhook and an email. A jump over several shares is one email
 * about the highest (docs/agent.md#budgets).
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BudgetList } from '#agent/budgets/api.ts';
import { freePortBase } from '../ports.fixture.ts';
import { startReceiver } from '../webhooks/receiver.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { type Instance, internalKey, startInstance } from './instances.fixture.ts';

const limitMs = 180_000;
const patience = { timeout: 60_000, interval: 100 };
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const operators = ['chief@example.com', 'zweite@example.com'];

interface Event {
  readonly type: string;
  readonly data: { readonly period: string; readonly percent: number; readonly budgetUsd: number };
}

describe.skipIf(skipWithoutFleet)('a budget', () => {
  let fleet: Fleet;
  let client: pg.Client;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let folder: string;
  let notify: string;
  let agents: Instance[] = [];

  beforeAll(async () => {
    [fleet, receiver, folder] = await Promise.all([
      openFleet(),
      startReceiver(secret),
      mkdtemp(join(tmpdir(), 'budgets-')),
    ]);
    client = new pg.Client({ connectionString: fleet.databaseUrl });
    await client.connect();
    await client.query(
      `insert into user_profiles (id, email, language) values (gen_random_uuid(), 'Zweite@example.com', 'de')`,
    );
    const services = await fleet.start({ services: ['notify', 'media', 'edge', 'memory'] });
    notify = `http://127.0.0.1:${services.portBase + 7}`;
  }, limitMs);
  afterAll(async () => {
    await client.end();
    await fleet.close();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });
  /** Each test is another day for the sums, the reports and the mailboxes. */
  beforeEach(async () => {
    await Promise.all(agents.map((agent) => agent.kill()));
    agents = [];
    await client.query('truncate agent_usage_totals, agent_budgets_reached, agent_budgets, notify_sends, jobs');
    receiver.received.length = 0;
  });

  async function start(settings: Readonly<Record<string, string>>): Promise<Instance> {
    const [, base = ''] = /:(\d+)$/.exec(notify) ?? [];
    const offset = (service: number) => `http://127.0.0.1:${Number(base) - 7 + service}`;
    const agent = await fleet.start({
      env: {
        WEBHOOK_URL: receiver.url,
        WEBHOOK_SECRET: secret,
        OPERATOR_EMAILS: operators.join(', '),
        CONSOLE_URL: 'https://console.example.com',
        NOTIFY_URL: notify,
        MEDIA_URL: offset(1),
        MEMORY_URL: offset(5),
        EDGE_URL: offset(10),
        ...settings,
      },
    });
    agents.push(agent);
    return agent;
  }

  const spend = (usd: number) =>
    client.query(
      `insert into agent_usage_totals as known (day, model, plan, slot, cost_usd)
       values ((now() at time zone 'UTC')::date, 'm', 'pro', $2, $1)
       on conflict (day, model, plan, slot) do update set cost_usd = known.cost_usd + excluded.cost_usd`,
      [usd, Math.floor(Math.random() * 16)],
    );
  const events = () =>
    receiver.received
      .map(({ event }) => event as Event)
      .filter(({ type }) => type === 'budget.reached')
      .map(({ data }) => `${data.period} ${data.percent} of ${data.budgetUsd}`)
      .sort();
  async function subjects(address: string): Promise<readonly string[]> {
    const response = await fetch(`${notify}/people/mails?address=${address}`, {
      headers: { 'x-internal-key': internalKey },
    });
    const { mails } = (await response.json()) as { readonly mails: readonly { readonly subject: string }[] };
    return mails.map(({ subject }) => subject.replaceAll('\u00a0', ' ')).sort();
  }
  const percentsMailed = async () => {
    const mails = await Promise.all(operators.map(subjects));
    return mails.map((each) => each.map((subject) => Number(/(\d+) ?%/.exec(subject)?.[1])).sort((a, b) => a - b));
  };
  /** Holds a lock on a table until as many transactions that report budgets wait for it. They end with the returned call. */
  async function hold(table: string, mode: string, waiters: number): Promise<() => Promise<void>> {
    const holder = new pg.Client({ connectionString: fleet.databaseUrl });
    await holder.connect();
    await holder.query(`begin; lock table ${table} in ${mode} mode`);
    const end = async () => {
      await holder.query('commit');
      await holder.end();
    };
    const count = async () => {
      const { rows } = await holder.query<{ count: string }>(
        `with here as (
           select pg_locks.* from pg_locks join pg_database on oid = database and datname = current_database())
         select count(*) from here where relation = '${table}'::regclass and not granted
           and pid in (select pid from here where relation = 'agent_budgets_reached'::regclass and mode = 'RowExclusiveLock')`,
      );
      return Number(rows[0]?.count);
    };
    try {
      await expect.poll(count, patience).toBe(waiters);
      return end;
    } catch (error) {
      await end();
      throw error;
    }
  }
  /** Every process has compared the sums again, and the emails are sent. */
  async function settle(): Promise<void> {
    const release = await hold('agent_budgets_reached', 'exclusive', agents.length);
    await release();
    const unfinished = async () =>
      (await client.query(`select queue from jobs where status in ('waiting', 'running')`)).rows;
    await expect.poll(unfinished, patience).toEqual([]);
  }

  it('is reported at 50, 80 and 100 %, when images cost so much', { timeout: limitMs }, async () => {
    const file = join(folder, 'models.json');
    await writeFile(
      file,
      JSON.stringify([{ kind: 'image', id: 'paint', baseUrl: 'offline', model: 'p', costUsd: 2.75 }]),
    );
    const agent = await start({ MODELS_FILE: file, AGENT_BUDGET_DAILY_USD: '5.50' });
    const user = (await fleet.user(100))(agent);
    const order = async () => {
      const { status } = await user.call('POST', '/images', { prompt: 'a bee' }, { prefer: 'wait=60' });
      expect(status).toBe(201);
    };
    await order();
    await expect.poll(events, patience).toEqual(['day 50 of 5.5']);
    await order();
    await expect.poll(events, patience).toEqual(['day 100 of 5.5', 'day 50 of 5.5', 'day 80 of 5.5']);
    await settle();
    // The second order reached 80 and 100 % at once.
    expect(await percentsMailed()).toEqual([
      [50, 100],
      [50, 100],
    ]);
    const last = receiver.received.map(({ event }) => event as Event).at(-1);
    const day = (await client.query(`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as day`)).rows[0].day;
    expect(last?.data).toMatchObject({ period: 'day', start: day, budgetUsd: 5.5, spentUsd: 5.5 });
    expect((await subjects('chief@example.com'))[0]).toMatch(/^100% of the Atelier budget for .* is spent$/);
    expect((await subjects('zweite@example.com'))[0]).toMatch(/^Atelier: 100 % des Budgets sind ausgegeben/);
    const { rows: links } = await client.query(
      `select distinct payload #>> '{data,url}' as url from jobs where queue = 'agent/budget-mail'`,
    );
    expect(links).toEqual([{ url: 'https://console.example.com/operator/models' }]);
    const server = { headers: { 'x-internal-key': internalKey } };
    const answer = await fetch(`${agent.url}/usage/budgets`, server);
    expect((await answer.json()) as BudgetList).toEqual({
      budgets: [{ period: 'day', start: day, budgetUsd: 5.5, changedAt: null, spentUsd: 5.5, percent: 100 }],
    });
    expect((await user.call('GET', '/usage/budgets')).status).toBe(403);
  });

  it('is reported once by several processes', { timeout: limitMs }, async () => {
    const settings = { AGENT_BUDGET_DAILY_USD: '10', AGENT_BUDGET_MONTHLY_USD: '40' };
    await Promise.all([start(settings), start(settings), start(settings)]);
    await spend(4.99);
    await settle();
    expect(events()).toEqual([]);
    await spend(0.01);
    await expect.poll(events, patience).toEqual(['day 50 of 10']);
    await Promise.all([hold('agent_budgets_reached', 'exclusive', 3).then((release) => release()), spend(27)]);
    const all = ['day 100 of 10', 'day 50 of 10', 'day 80 of 10', 'month 50 of 40', 'month 80 of 40'];
    await expect.poll(events, patience).toEqual(all);
    await settle();
    expect(events()).toEqual(all);
    // A jump of each period.
    expect(await percentsMailed()).toEqual([
      [50, 80, 100],
      [50, 80, 100],
    ]);
  });

  it('is reported once if the process that noticed it is killed', { timeout: limitMs }, async () => {
    const settings = { AGENT_BUDGET_DAILY_USD: '10' };
    await start(settings);
    // Between the row of the share and its jobs.
    const locked = hold('jobs', 'exclusive', 1);
    await spend(8);
    const release = await locked;
    await agents.pop()?.kill();
    await release();
    await Promise.all([start(settings), start(settings)]);
    await expect.poll(events, patience).toEqual(['day 50 of 10', 'day 80 of 10']);
    // Again, with the jobs committed.
    await Promise.all(agents.splice(0).map((agent) => agent.kill()));
    await start(settings);
    await settle();
    expect(events()).toEqual(['day 50 of 10', 'day 80 of 10']);
    expect(await percentsMailed()).toEqual([[80], [80]]);
  });

  it('sends one email about a jump over all shares, and none about the lower ones later', {
    timeout: limitMs,
  }, async () => {
    await start({ AGENT_BUDGET_DAILY_USD: '10' });
    await spend(12);
    await expect.poll(events, patience).toEqual(['day 100 of 10', 'day 50 of 10', 'day 80 of 10']);
    await settle();
    expect(await percentsMailed()).toEqual([[100], [100]]);
    await spend(1);
    await settle();
    await Promise.all(agents.splice(0).map((agent) => agent.kill()));
    await start({ AGENT_BUDGET_DAILY_USD: '10' });
    await settle();
    expect(await percentsMailed()).toEqual([[100], [100]]);
  });

  it('sends an email about each share that is reached after another', { timeout: limitMs }, async () => {
    await start({ AGENT_BUDGET_DAILY_USD: '10' });
    const mailed: number[] = [];
    for (const percent of [50, 80, 100]) {
      await spend((percent - (mailed.at(-1) ?? 0)) / 10);
      mailed.push(percent);
      await expect.poll(percentsMailed, patience).toEqual([mailed, mailed]);
      await settle();
      expect(await percentsMailed()).toEqual([mailed, mailed]);
    }
  });

  it('is reported further if it is lowered, and again if it is raised', { timeout: limitMs }, async () => {
    await spend(5);
    await start({ AGENT_BUDGET_DAILY_USD: '10' });
    await expect.poll(events, patience).toEqual(['day 50 of 10']);
    await agents.pop()?.kill();
    await start({ AGENT_BUDGET_DAILY_USD: '5' });
    const lowered = ['day 100 of 5', 'day 50 of 10', 'day 80 of 5'];
    await expect.poll(events, patience).toEqual(lowered);
    await agents.pop()?.kill();
    await start({ AGENT_BUDGET_DAILY_USD: '20' });
    await spend(12);
    await expect.poll(events, patience).toEqual([...lowered, 'day 50 of 20', 'day 80 of 20'].sort());
  });

  it('is changed for all processes, with and without a setting', { timeout: limitMs }, async () => {
    const [one] = await Promise.all([start({ AGENT_BUDGET_DAILY_USD: '5' }), start({})]);
    const response = await fetch(`${one?.url}/usage/budgets/day`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-internal-key': internalKey },
      body: JSON.stringify({ budgetUsd: 10 }),
    });
    expect(response.status).toBe(200);
    await spend(5);
    await expect.poll(events, patience).toEqual(['day 50 of 10']);
    await settle();
    expect(events()).toEqual(['day 50 of 10']);
  });

  it('begins again with the next day, in UTC', { timeout: limitMs }, async () => {
    await start({ AGENT_BUDGET_DAILY_USD: '10' });
    await spend(6);
    await expect.poll(events, patience).toEqual(['day 50 of 10']);
    await client.query('update agent_usage_totals set day = day - 1');
    await client.query('update agent_budgets_reached set starts_on = starts_on - 1');
    await spend(4);
    await settle();
    expect(events()).toEqual(['day 50 of 10']);
    await spend(1);
    await expect.poll(events, patience).toEqual(['day 50 of 10', 'day 50 of 10']);
  });

  it.each([
    ['AGENT_BUDGET_DAILY_USD', '0'],
    ['AGENT_BUDGET_DAILY_USD', '$25'],
    ['AGENT_BUDGET_MONTHLY_USD', '-5'],
    ['AGENT_BUDGET_MONTHLY_USD', '1e3'],
  ])('of %s=%s fails the start', { timeout: limitMs }, async (name, value) => {
    const settings = { ATELIER_DATA_DIR: folder, DATABASE_URL: fleet.databaseUrl, [name]: value };
    await expect(startInstance(await freePortBase(), settings)).rejects.toThrow(
      `${name} must be an amount in US dollars above 0, such as 25 or 12.50`,
    );
  });
});
