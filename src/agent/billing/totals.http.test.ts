/** What operators see of the agent, at the service and through the console. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { offlineModel } from '#local/model/model.ts';
import { transaction } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { type AgentRig, modelsOf, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { type ConsoleServer, internalAt, startConsoleServer } from '../../../test/console/server.fixture.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { embedded } from '../../../test/media/rig.fixture.ts';
import type { ConfiguredModels, Spenders, UsageTotals } from '../operatorapi.ts';
import { openModels } from '../providers/models.ts';
import type { AgentTables } from '../tables.ts';
import { addUsage } from './usagestore.ts';

let rig: AgentRig;
let operator: ConsoleServer;
beforeAll(async () => {
  rig = await startAgent({ ...embedded, openDatabase: () => openTestDatabase(migrations) });
  const key = rig.server.credential['x-internal-key'] ?? '';
  operator = await startConsoleServer(undefined, { internal: internalAt(key, rig.url) });
});
afterAll(async () => {
  await operator.close();
  await rig.close();
});

const today = () => new Date().toISOString().slice(0, 10);
const totals = async (query = '') => (await rig.server.call<UsageTotals>('GET', `/usage/totals${query}`)).body.days;
const db = () => rig.media.database.queries<AgentTables>();
const use = (userId: string, model: string, credits: number) =>
  transaction(db(), (tx) => addUsage(tx, { userId, model, runs: 1, inputTokens: 10, outputTokens: 5, credits }));

describe('totals', () => {
  it('sum the usage of all users by day, model and plan', async () => {
    const [pro, free] = [await rig.user('pro', 1000), await rig.user('free', 1000)];
    for (const user of [pro, free, pro]) await user.ended(await user.ask(newThread(), 'hello'));
    const days = await totals();
    const model = days[0]?.model ?? '';
    expect(days.map(({ day, plan, runs, credits }) => [day, plan, runs, credits])).toEqual([
      [today(), 'free', 1, 1],
      [today(), 'pro', 2, 2],
    ]);
    const { rows } = await sql<{ tokens: number }>`
      select sum(input_tokens + output_tokens)::bigint as tokens from agent_usage where model = ${model}`.execute(db());
    expect(days.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)).toBe(
      rows[0]?.tokens,
    );
  });

  it('stay right when many runs end at the same time', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => rig.user('max', 1000)));
    await Promise.all(users.flatMap(({ userId }) => Array.from({ length: 10 }, () => use(userId, 'crowded', 3))));
    const crowded = (await totals()).filter(({ model }) => model === 'crowded');
    expect(crowded).toEqual([
      {
        day: today(),
        model: 'crowded',
        plan: 'max',
        runs: 80,
        inputTokens: 800,
        outputTokens: 400,
        images: 0,
        videos: 0,
        credits: 240,
        costUsd: 0,
      },
    ]);
  });

  it('do not count rolled-back usage', async () => {
    const { userId } = await rig.user();
    const died = new Error('the process dies');
    await expect(
      transaction(db(), async (tx) => {
        await addUsage(tx, { userId, model: 'lost', runs: 1, credits: 3 });
        throw died;
      }),
    ).rejects.toBe(died);
    expect((await totals()).filter(({ model }) => model === 'lost')).toEqual([]);
  });

  it('are of the days between, both included', async () => {
    await sql`insert into agent_usage_totals (day, model, plan, slot, runs)
      values ('2026-01-01', 'old', 'free', 0, 1), ('2026-01-02', 'old', 'free', 0, 2), ('2026-01-02', 'old', 'free', 1, 3),
        ('2026-01-03', 'old', 'free', 0, 4)`.execute(db());
    const runsOf = async (query: string) => (await totals(query)).map(({ day, runs }) => [day, runs]);
    expect(await runsOf('?from=2026-01-01&to=2026-01-02')).toEqual([
      ['2026-01-02', 5],
      ['2026-01-01', 1],
    ]);
  });

  it.each([
    ['?from=2026-02-30', 'querystring.from'],
    ['?from=0000-01-01&to=0000-02-01', 'querystring.from'],
    ['?from=2026-01-02&to=2026-01-01', 'query.from'],
    ['?from=2020-01-01&to=2026-01-01', 'query.from'],
  ])('%s is 400 and names the field', async (query, field) => {
    const { status, body } = await rig.server.call('GET', `/usage/totals${query}`);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });
});

describe('models of images and videos', () => {
  it('have the sums of the orders that have ended, with the time of those outside of runs that delivered', async () => {
    const { userId } = await rig.user();
    const at = '2025-03-02T10:00:00Z';
    const order = (status: string, items: readonly string[], endedAt: string) => sql`
      with made as (
        insert into agent_generations (generation_id, owner_id, scope_kind, scope_id, model, status, price, credits, input,
          created_at, ended_at)
        values (gen_random_uuid(), ${userId}, 'thread', '1', 'a-painter', ${status}, 2, ${items.length}, '{}', ${at}, ${endedAt})
        returning generation_id
      ) insert into agent_generation_items (generation_id, index, status)
      select generation_id, ordinality, item from made, unnest(${items}::text[]) with ordinality as item(item, ordinality)`;
    await order('completed', ['completed', 'completed'], '2025-03-02T10:00:04Z').execute(db());
    await order('failed', ['failed'], '2025-03-02T10:00:02Z').execute(db());
    // A video that was never ordered of its provider has a price, but no cost.
    const video = (status: string, code: string | null) => sql`
      insert into agent_videos (video_id, resource_id, thread_id, task_id, message_id, tool_call_id, input, status,
        failure_code, media_model, credits, cost_usd, created_at, updated_at)
      values (gen_random_uuid(), ${userId}, '1', gen_random_uuid(), '1', '1', '{}', ${status}, ${code}, 'a-camera',
        ${status === 'completed' ? 40 : 0}, 0.5, ${at}, ${at})`;
    await video('completed', null).execute(db());
    await video('failed', 'insufficient_credits').execute(db());
    const media = async (query: string) =>
      (await rig.server.call<UsageTotals>('GET', `/usage/totals${query}`)).body.media;
    expect(await media('?from=2025-03-02&to=2025-03-02')).toEqual([
      {
        ...{ kind: 'image', model: 'a-painter', orders: 2, failed: 1, delivered: 2 },
        ...{ credits: 3, costUsd: null, meanMs: 4000 },
      },
      {
        ...{ kind: 'video', model: 'a-camera', orders: 2, failed: 1, delivered: 1 },
        ...{ credits: 40, costUsd: 0.5, meanMs: 0 },
      },
    ]);
    expect(await media('?from=2025-03-03&to=2025-03-04')).toEqual([]);
  });
});

it('the usage of the first days of the calendar is empty', async () => {
  expect(await totals('?to=0001-01-01')).toEqual([]);
});

describe('users by credits', () => {
  it('lists the users who spent the most in the month first', async () => {
    const [one, two] = [await rig.user(), await rig.user()];
    await use(one.userId, 'a', 5000);
    await use(two.userId, 'a', 4000);
    await use(two.userId, 'b', 2000);
    // Each in its transaction, and the images of another month apart.
    for (const made of [{ images: 2 }, { images: 1, videos: 3 }])
      await transaction(db(), (tx) => addUsage(tx, { userId: two.userId, model: 'b', credits: 0, ...made }));
    await sql`insert into agent_usage (user_id, day, model, images) values (${one.userId}, '2025-12-31', 'a', 9)`.execute(
      db(),
    );
    const read = async (query = '') => (await rig.server.call<Spenders>('GET', `/usage/users${query}`)).body;
    expect((await read('?limit=2')).users).toEqual([
      {
        userId: two.userId,
        runs: 2,
        inputTokens: 20,
        outputTokens: 10,
        credits: 6000,
        costUsd: 0,
        images: 3,
        videos: 3,
      },
      {
        userId: one.userId,
        runs: 1,
        inputTokens: 10,
        outputTokens: 5,
        credits: 5000,
        costUsd: 0,
        images: 0,
        videos: 0,
      },
    ]);
    expect(await read('?month=2026-01')).toEqual({ month: '2026-01', users: [] });
    for (const bad of ['?month=2026-13', '?month=0000-01', '?month=2026', '?limit=0', '?limit=101'])
      expect((await rig.server.call('GET', `/usage/users${bad}`)).status).toBe(400);
  });
});

describe('models', () => {
  it('are all of them, with plans and prices', async () => {
    const { body } = await rig.server.call<ConfiguredModels>('GET', '/models/all');
    expect(body.models).toEqual([expect.objectContaining({ simulated: true, default: true, credits: 1, plans: null })]);
    expect(body.prices).toEqual({ image: 2, video: 40 });
    expect(body.media).toMatchObject([
      { kind: 'image', credits: 2, costUsd: null, default: true },
      { kind: 'video', credits: 40, costUsd: null, default: true, plans: expect.not.arrayContaining(['free']) },
    ]);
    expect(body.plans.find(({ plan }) => plan === 'free')).toEqual({ plan: 'free', hasVideo: false });
    expect(body.plans.find(({ plan }) => plan === 'pro')).toEqual({ plan: 'pro', hasVideo: true });
  });

  it('from a file are listed with their plans, fallback and price', async () => {
    const file = [
      {
        id: 'small',
        model: 's',
        baseUrl: 'http://127.0.0.1:9/v1',
        credits: 3,
        plans: ['pro' as const],
        fallback: 'large',
      },
      { id: 'large', model: 'l', baseUrl: 'http://127.0.0.1:9/v1', label: 'Large' },
    ];
    const models = await openModels({
      settings: modelsOf({ file }),
      offline: offlineModel,
      log: createLog({ level: 'silent' }),
    });
    expect(models.all()).toMatchObject([
      { id: 'small', credits: 3, plans: ['pro'], fallback: 'large', default: true, simulated: false },
      { id: 'large', label: 'Large', credits: 1, plans: null, fallback: null, default: false },
    ]);
  });
});

describe('access', () => {
  it.each(['/usage/totals', '/usage/budgets', '/usage/users', '/models/all'])('%s is for servers', async (path) => {
    const user = await rig.user();
    expect((await user.call('GET', path)).status).toBe(403);
    expect((await fetch(rig.url + path)).status).toBe(401);
    const onBehalf = { ...rig.server.credential, 'x-on-behalf-of': user.userId };
    expect((await fetch(rig.url + path, { headers: onBehalf })).status).toBe(403);
  });

  it('a budget is changed by operators only, within its limits', async () => {
    const path = '/usage/budgets/month';
    const change = (budgetUsd: unknown) => operator.send('PUT', `/api${path}`, { budgetUsd });
    const set = await change(250.5);
    expect([set.status, await set.json()]).toMatchObject([200, { budgets: [{ period: 'month', budgetUsd: 250.5 }] }]);
    for (const wrong of [0, -5, 1e9, '25', undefined]) expect((await change(wrong)).status).toBe(400);
    expect((await operator.send('PUT', '/api/usage/budgets/year', { budgetUsd: 5 })).status).toBe(400);
    expect((await operator.send('PUT', `/api${path}`, { budgetUsd: 5 }, {})).status).toBe(401);
    const user = await rig.user();
    expect((await user.call('PUT', path, { budgetUsd: 5 })).status).toBe(403);
    expect(await (await change(null)).json()).toEqual({ budgets: [] });
  });

  it.each([
    ['/api/models', 200],
    ['/api/usage/budgets', 200],
    [`/api/usage/totals?from=${today()}&to=${today()}`, 200],
    ['/api/usage/users?month=2026-01', 200],
    ['/api/usage/totals', 400],
    ['/api/usage/totals?from=2026-01-02&to=2026-01-01', 400],
    ['/api/usage/users?month=1', 400],
  ])('the console answers %s with %s, to operators only', async (path, status) => {
    expect((await operator.send('GET', path)).status).toBe(status);
    expect((await operator.send('GET', path, undefined, {})).status).toBe(401);
  });
});
