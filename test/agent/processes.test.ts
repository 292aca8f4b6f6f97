/** Agents on one PostgreSQL and one Redis that die, are drained, or lose their Redis, while others read what they run. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, findProfile, setPlanAndCredits } from '#accounts/store.ts';
import { migrations } from '#migrations.ts';
import { startTestIssuer, type TestIssuer } from '#platform/access/test-issuer.ts';
import type { Database } from '#platform/db/db.ts';
import { collectMigrations } from '#platform/db/migrations.ts';
import { platformMigrations } from '#platform/db/open.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { freePortBase, newPlace } from '../acceptance/running.ts';
import { createPostgresDatabase, databaseEngines } from '../database.ts';
import { type RedisServer, skipWithoutRedis, startRedisServer } from '../redis.ts';
import { type Instance, startInstance, userAt, type Watched, watch } from './instances.ts';
import { type Chatter, newThread } from './rig.ts';
import { textOf } from './stream.ts';

const isMissing = skipWithoutRedis || databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const credits = 20;
/** CONTRACT §7. */
const endedWithinMs = 30_000;

describe.skipIf(isMissing)('several processes of the agent on PostgreSQL and Redis', () => {
  let redis: RedisServer;
  let database: Database;
  let issuer: TestIssuer;
  let survivor: Instance;
  let start: (more?: Readonly<Record<string, string>>) => Promise<Instance>;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const { url, drop } = await createPostgresDatabase();
    issuer = await startTestIssuer();
    redis = await startRedisServer();
    const place = await newPlace();
    closers.push(place.remove, drop, issuer.close, redis.close);
    database = await openPostgres({
      url,
      poolSize: 2,
      migrations: await collectMigrations([platformMigrations, ...migrations]),
      log: createLog({ level: 'silent' }),
    });
    closers.push(() => database.close());
    start = async (more = {}) => {
      const env = {
        ATELIER_DATA_DIR: place.dataDir,
        DATABASE_URL: url,
        REDIS_URL: redis.url,
        JWKS_URL: issuer.jwksUrl,
      };
      const instance = await startInstance(await freePortBase(), { ...env, ...more });
      closers.push(instance.kill);
      return instance;
    };
    survivor = await start();
  }, 120_000);
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  /** Of a user of its own: the same one here and there. */
  async function userOf(instance: Instance): Promise<{ here: Chatter; there: Chatter }> {
    const accounts = database.queries<AccountTables>();
    const userId = randomUUID();
    await setPlanAndCredits(accounts, (await ensureProfile(accounts, { id: userId })).id, 'pro', credits);
    return { here: await userAt(issuer, instance.url, userId), there: await userAt(issuer, survivor.url, userId) };
  }
  const creditsOf = async ({ userId }: Chatter) =>
    (await findProfile(database.queries<AccountTables>(), userId))?.credits;

  const flushed = async (url: string) => {
    const client = createClient({ url });
    await client.connect();
    await client.flushAll();
    client.destroy();
  };

  /** What was shown is kept, it is numbered without a gap, and the thread takes the next question. */
  async function expectCleanEnd(user: Chatter, { threadId, taskId, events }: Watched, status: string): Promise<void> {
    expect((await user.task(taskId)).status).toBe(status);
    expect(events.map(({ id }) => Number(id.split('-')[1]))).toEqual(events.map((_event, index) => index + 1));
    const answer = (await user.messages(threadId)).find(({ role }) => role === 'assistant');
    const kept = (answer?.parts ?? []).flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('');
    expect(kept.startsWith(textOf(events))).toBe(true);
    expect((await user.call('GET', `/thread/${threadId}/current-task`)).body).toEqual({ task: null });
    await user.ended(await user.ask(threadId, 'Are you there?'));
  }

  it('one that is killed leaves runs that have failed for all within 30 s', { timeout: 180_000 }, async () => {
    const asked = ['/slow 60', '/long 30000', 'Tell me of the evening', 'Remember that I am fond of evenings'];
    const delaysMs = [0, 700];
    const victims = await Promise.all(delaysMs.map(() => start()));
    await Promise.all(
      victims.map(async (victim, index) => {
        const { here, there } = await userOf(victim);
        const watched = await Promise.all(asked.map((text) => watch(here, there, text)));
        await sleep(delaysMs[index]);
        await victim.kill();
        const killedAtMs = performance.now();
        await Promise.all(watched.map(({ over }) => over));
        const ends = await Promise.all(watched.map(({ taskId }) => there.task(taskId)));
        expect(performance.now() - killedAtMs).toBeLessThan(endedWithinMs);
        const completed = ends.filter(({ status }) => status === 'completed').length;
        expect(ends[0]?.status).toBe('failed');
        expect(await creditsOf(there)).toBe(credits - completed);
        for (const [at, run] of watched.entries()) {
          expect(['finish', 'error']).toContain(run.events.at(-1)?.data.type);
          await expectCleanEnd(there, run, ends[at]?.status ?? '');
        }
        expect(await creditsOf(there)).toBe(credits - completed - watched.length);
      }),
    );
  });

  it('Redis that is flushed in the midst ends runs, frees threads, and costs nobody', {
    timeout: 120_000,
  }, async () => {
    const other = await start();
    const { here, there } = await userOf(other);
    const done = await watch(here, there, 'Tell me of the evening');
    await done.over;
    const watched = await Promise.all(['/slow 60', '/slow 60', '/long 30000'].map((text) => watch(here, there, text)));
    await expect.poll(() => watched.every(({ events }) => events.length > 3), { timeout: 20_000 }).toBe(true);
    await flushed(redis.url);
    await Promise.all(watched.map(({ over }) => over));
    for (const run of watched) {
      const { status, error } = await there.ended(run.taskId);
      if (status === 'failed') expect([run.events.at(-1)?.data.type, typeof error]).toEqual(['error', 'string']);
      await expectCleanEnd(there, run, status);
    }
    expect((await there.task(watched[0]?.taskId ?? '')).status).toBe('failed');
    // One that had ended is told again by its message.
    for (const chatter of [here, there]) {
      const again = await chatter.stream(done.taskId);
      expect([again.done, textOf(again.events)]).toEqual([true, textOf(done.events)]);
      const rest = await chatter.stream(done.taskId, { lastEventId: done.events[2]?.id });
      expect([rest.done, rest.events.at(-1)?.data]).toEqual([true, { type: 'finish' }]);
    }
    await other.kill();
  });

  it('Redis that is gone for good leaves nobody waiting', { timeout: 120_000 }, async () => {
    const other = await start();
    const { here, there } = await userOf(other);
    const done = await watch(here, there, 'Tell me of the evening');
    await done.over;
    const watched = await watch(here, there, '/slow 60');
    await expect.poll(() => watched.events.length > 3, { timeout: 20_000 }).toBe(true);
    redis.signal('SIGKILL');
    try {
      const goneAtMs = performance.now();
      await watched.over;
      expect(performance.now() - goneAtMs).toBeLessThan(endedWithinMs);
      expect((await there.ended(watched.taskId)).status).toBe('failed');
      expect(watched.events.at(-1)?.data.type).toBe('error');
      const again = await there.stream(done.taskId);
      expect([again.done, textOf(again.events)]).toEqual([true, textOf(done.events)]);
    } finally {
      await redis.start();
    }
    await expect
      .poll(async () => (await there.call('POST', '/task', { threadId: newThread(), text: 'hi' })).status, {
        timeout: 20_000,
      })
      .toBe(201);
    await other.kill();
  });

  it('one that drains lets runs go on, then ends them, and is gone', { timeout: 120_000 }, async () => {
    const other = await start({ AGENT_DRAIN_SECS: '3' });
    const { here, there } = await userOf(other);
    const [short, long] = await Promise.all([watch(here, there, '/slow 1'), watch(here, there, '/slow 60')]);
    const reading = here.stream(long.taskId);
    await expect.poll(() => long.events.length > 3, { timeout: 20_000 }).toBe(true);
    const askedAtMs = performance.now();
    other.child.kill('SIGTERM');
    await expect.poll(async () => (await here.call('GET', '/health')).status).toBe(503);
    expect((await here.call('GET', '/health')).body.status).toBe('draining');
    const refused = await here.call('POST', '/task', { threadId: newThread(), text: 'hi' });
    expect([refused.status, refused.body.error]).toEqual([503, 'draining']);
    expect((await here.call('GET', `/task/${long.taskId}`)).status).toBe(200);
    expect((await here.stream(long.taskId, { cutAfter: 2 })).events).toHaveLength(2);
    expect(await other.ended()).toBe(0);
    expect(performance.now() - askedAtMs).toBeLessThan(20_000);
    const here_ = await reading;
    expect([here_.done, here_.events.at(-1)?.data.type]).toEqual([true, 'error']);
    await Promise.all([short.over, long.over]);
    expect(long.events.at(-1)?.data.type).toBe('error');
    await expectCleanEnd(there, short, 'completed');
    await expectCleanEnd(there, long, 'failed');
    expect(await creditsOf(there)).toBe(credits - 3);
  });
});
