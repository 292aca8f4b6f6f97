/** What is left of a run after its time-to-live, and of a service that is being shut down. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountTables } from '#accounts/store.ts';
import { createLog } from '#platform/log.ts';
import { problems } from '#platform/problem.ts';
import { type AgentRig, type Chatter, newThread, startAgent, testSettings } from '../../../test/agent/rig.fixture.ts';
import { setPlanAndCredits } from '../../../test/credits.fixture.ts';
import { embedded } from '../../../test/media/rig.fixture.ts';
import type { AgentContext } from '../context.ts';
import type { EventLog } from '../eventlog/eventlog.ts';
import type { AgentTables } from '../tables.ts';
import type { RunExecutor } from './execution.ts';
import { startReaper } from './reaper.ts';

let rig: AgentRig;
beforeAll(async () => {
  rig = await startAgent(embedded, { settings: { ...testSettings, taskTtlS: 1, drainS: 1 } });
});
afterAll(() => rig.close());

describe('a task past its time-to-live', () => {
  const expired = async (user: Chatter, taskId: string) => {
    await expect.poll(async () => (await user.call('GET', `/task/${taskId}`)).status, { timeout: 60_000 }).toBe(404);
  };

  it('is unknown to every endpoint; its messages stay', async () => {
    const user = await rig.user('pro', 100);
    const threadId = newThread();
    const taskId = await user.ask(threadId, 'hello');
    await user.stream(taskId);
    await expired(user, taskId);
    for (const [method, path] of [
      ['DELETE', '/task'],
      ['GET', '/stream'],
      ['POST', '/video/submit'],
    ] as const) {
      const { status, body } = await user.call(method, `${path}/${taskId}`);
      expect([path, status, body.error]).toEqual([path, 404, 'not_found']);
    }
    expect(await user.messages(threadId)).toHaveLength(2);
  });

  it('still lets its videos be retried', async () => {
    const user = await rig.user('free', 100);
    const threadId = newThread();
    const taskId = await user.ask(threadId, 'Make a video of a bee.');
    await user.stream(taskId);
    await expired(user, taskId);
    const unpayable = await user.call('POST', `/video/submit/${taskId}`);
    expect([unpayable.status, unpayable.body.error]).toEqual([400, 'insufficient_plan']);
    await setPlanAndCredits(rig.media.database.queries<AccountTables>(), user.userId, 'pro', 40);
    const { status, body } = await user.call('POST', `/video/submit/${taskId}`);
    expect([status, body]).toEqual([200, { success: true }]);
    const shown = async () => (await user.messages(threadId))[1]?.parts.find(({ type }) => type === 'data-video')?.data;
    await expect.poll(shown, { timeout: 60_000 }).toMatchObject({ status: 'completed', attempt: 2 });
  });

  it('does not expire while it runs', async () => {
    const user = await rig.user('pro', 100);
    const taskId = await user.ask(newThread(), '/slow 6');
    await sleep(2000);
    expect((await user.task(taskId)).status).toBe('running');
    const { events } = await user.stream(taskId);
    expect(events.at(-1)?.data).toMatchObject({ type: 'finish' });
  });
});

/** A reaper that continues no run. */
function openReaper(eventLog: Partial<EventLog>) {
  const db = rig.media.database.queries<AgentTables>();
  const executor = { isAccepting: true } as RunExecutor;
  const pubsub = { subscribe: () => () => undefined };
  const lease = { holder: randomUUID(), leaseMs: 1000 };
  const log = createLog({ level: 'silent' });
  return startReaper({ db, eventLog, log, pubsub, lease } as unknown as AgentContext, executor);
}

it('a run of a dead process does not end because the database admits no more work', async () => {
  const db = rig.media.database.queries<AgentTables>();
  await sql`
    insert into agent_runs (task_id, thread_id, owner_id, message_id, status, holder, lease_expires_at, epoch_ms)
    select gen_random_uuid(), 'busy', gen_random_uuid(), 'busy', 'running', gen_random_uuid(), now() + interval '1 hour', 1`.execute(
    db,
  );
  const reaper = openReaper({ claim: async () => undefined, read: async () => Promise.reject(problems.overloaded()) });
  await reaper.reapAll();
  reaper.close();
  const runs = db.selectFrom('agent_runs').select(['status', 'restarts']).where('message_id', '=', 'busy');
  expect(await runs.execute()).toEqual([{ status: 'running', restarts: 1 }]);
  await sql`delete from agent_runs where message_id = 'busy'`.execute(db);
});

describe('a service that is shut down', () => {
  it('takes over no further runs of dead processes', async () => {
    const db = rig.media.database.queries<AgentTables>();
    const holder = randomUUID();
    const dead = 51;
    await sql`
      insert into agent_runs (task_id, thread_id, owner_id, message_id, status, holder, lease_expires_at, epoch_ms)
      select gen_random_uuid(), gen_random_uuid()::text, gen_random_uuid(), 'm', 'running', ${holder}, now() + interval '1 hour', 1
      from generate_series(1, ${dead})`.execute(db);
    const eventLog = { claim: async () => reaper.close(), read: async () => [] } as Partial<EventLog>;
    const reaper = openReaper(eventLog);
    await reaper.reapAll();
    const left = await db.selectFrom('agent_runs').select('task_id').where('holder', '=', holder).execute();
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(dead);
    await sql`delete from agent_runs where message_id = 'm'`.execute(db);
  });

  it('rejects new runs and health checks, serves all other requests, and lets runs continue for a while', async () => {
    const user = await rig.user('pro', 100);
    const other = await rig.another({
      settings: { ...testSettings, drainS: 20 },
      pace: { leaseMs: 60_000 },
    });
    const there = rig.at(other.url, user);
    const [short, long, stopped] = [newThread(), newThread(), newThread()];
    const ended = await there.ask(newThread(), 'hello');
    await there.ended(ended);
    const [shortId, longId, stoppedId] = await Promise.all([
      there.ask(short, '/slow 4'),
      there.ask(long, '/slow 500'),
      there.ask(stopped, '/slow 500'),
    ]);
    // A request that is sent while idle connections are closed must be retried by its client.
    const begun: Promise<void>[] = [];
    const reading = [shortId, longId, stoppedId].map((taskId) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      begun.push(promise);
      return there.stream(taskId, { onEvent: () => resolve() });
    });
    await Promise.all(begun);
    const draining = other.drain();
    await expect.poll(async () => (await there.call('GET', '/health')).status).toBe(503);
    const health = await there.call('GET', '/health');
    expect(health.body).toMatchObject({ status: 'draining' });
    const refused = await there.call('POST', '/task', { threadId: newThread(), text: 'hi' });
    expect([refused.status, refused.body.error]).toEqual([503, 'draining']);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    for (const path of ['/task?x', '/%74ask', '/tas%6B?x'])
      expect([path, (await there.call('POST', path, { threadId: newThread(), text: 'hi' })).status]).toEqual([
        path,
        503,
      ]);
    for (const path of ['/health?x', '/%68ealth'])
      expect([path, (await there.call('GET', path)).status]).toEqual([path, 503]);
    for (const path of [`/task/${longId}`, `/messages/${long}`, `/thread/${long}/current-task`, '/'])
      expect([path, (await there.call('GET', path)).status]).toEqual([path, 200]);
    expect((await there.stream(ended)).events.at(-1)?.data).toMatchObject({ type: 'finish' });
    expect((await there.call('DELETE', `/task/${stoppedId}`)).status).toBe(204);
    const [finished, brokenOff, aborted] = await Promise.all(reading);
    await draining;
    expect([finished, brokenOff, aborted].map((seen) => [seen?.done, seen?.events.at(-1)?.data])).toMatchObject([
      [true, { type: 'finish' }],
      [false, { type: 'text-delta' }],
      [true, { type: 'abort' }],
    ]);
    // The other process goes on with it.
    const seen = brokenOff?.events ?? [];
    const goesOn = Promise.withResolvers<void>();
    const rest = user.stream(longId, {
      lastEventId: seen.at(-1)?.id,
      onEvent: ({ data }) => data.type === 'data-restarted' && goesOn.resolve(),
    });
    await goesOn.promise;
    expect((await user.call('DELETE', `/task/${longId}`)).status).toBe(204);
    expect((await rest).events.map(({ data }) => data)).toEqual([
      expect.objectContaining({ type: 'text-end' }),
      { type: 'data-restarted', data: { step: 1 } },
      { type: 'finish-step' },
      ...(await rest).events.slice(3, -1).map(({ data }) => data),
      { type: 'abort' },
    ]);
    // Paid: the run before, the one that came to its end, and those that were stopped after they had shown something.
    await expect.poll(() => rig.credits(user)).toBeLessThanOrEqual(97);
    expect((await user.call('GET', `/thread/${long}/current-task`)).body).toEqual({ task: null });
  });
});
