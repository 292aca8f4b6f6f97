/** Deleted threads: nothing of them is left, whatever was under way, and nothing that was late brings them back. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offlineVideos } from '#local/renderer/renderer.ts';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import { type Jobs, WorkerStopping } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { openPubSub } from '#platform/pubsub/open.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { type AgentRig, type Chatter, newThread, type Opened, startAgent } from '../../../test/agent/rig.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { onEveryPair, upload } from '../../../test/media/rig.fixture.ts';
import { clearingQueue } from './deletion.ts';

onEveryPair('deletion', (pair) => {
  let rig: AgentRig;
  let redis: Redis | undefined;
  /** Another process, which hears of an abort only when it renews its leases. */
  let deaf: Opened;
  /** A process that reaches no media service, and one whose jobs take over at once. */
  let cutOff: Opened;
  let hasty: Opened;
  let client: HttpClient;
  let nowhere: ReturnType<typeof createServer>;
  let releaseVideos: () => void;
  /** Of the jobs of the other processes, by queue. */
  const handlers = new Map<string, (job: unknown) => Promise<void>>();
  beforeAll(async () => {
    redis = await pair.openRedis?.();
    const log = createLog({ level: 'silent' });
    const videosReleased = new Promise<void>((resolve) => {
      releaseVideos = resolve;
    });
    const bytes = await makeImage('png');
    const make = async () => ({ bytes, mime: 'image/png' });
    rig = await startAgent(pair, {
      imageGenerator: { generate: make, edit: make },
      redis,
      pubsub: openPubSub({ redis, name: 'agent', log }),
      pace: { leaseMs: 6000, videoWaitMs: 100, clearAfterMs: 3_600_000 },
      videoGenerator: {
        ...offlineVideos,
        download: async (order) => {
          if (order.prompt.includes('patient')) await videosReleased;
          return offlineVideos.download(order);
        },
      },
    });
    const pubsub = () => openPubSub({ redis: undefined, name: `deaf-${randomUUID()}`, log });
    // Only the first process works on jobs.
    const jobs: Jobs = {
      ...createJobs({ database: rig.media.database, log }),
      work: (queue, handler) => void handlers.set(queue.name, handler as (job: unknown) => Promise<void>),
    };
    deaf = await rig.another({ jobs, pubsub: pubsub(), pace: { leaseMs: 60_000 } });
    nowhere = createServer((_request, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => nowhere.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(nowhere.address() as AddressInfo).port}`;
    client = createClient({ name: 'media', baseUrl, isInternal: true, internalKey: 'a key', timeoutMs: 2000 });
    const pace = { leaseMs: 60_000 };
    cutOff = await rig.another({ jobs, media: client, pace: { ...pace, takeOverAfterMs: 3_600_000 } });
    hasty = await rig.another({ jobs, media: client, pace: { ...pace, takeOverAfterMs: 300 } });
  });
  afterAll(async () => {
    await rig.close();
    await client.close();
    nowhere.close();
    nowhere.closeAllConnections();
    await redis?.close();
  });

  const say = async (user: Chatter, threadId: string, text: string) => {
    const taskId = await user.ask(threadId, text);
    await user.ended(taskId);
    return taskId;
  };
  const remove = (user: Chatter, threadId: string, query = '') => user.call('DELETE', `/threads/${threadId}${query}`);

  /** The rows of the thread in each table that may hold any, and the keys of its runs in Redis. */
  async function leftOf(threadId: string, taskIds: readonly string[]): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select (
        (select count(*) from agent_threads where thread_id = ${threadId})
        + (select count(*) from agent_messages where thread_id = ${threadId})
        + (select count(*) from agent_runs where thread_id = ${threadId})
        + (select count(*) from agent_videos where thread_id = ${threadId})
        + (select count(*) from agent_events where task_id = any(${taskIds}::uuid[]))
      )::int as count`.execute(rig.media.database.queries());
    const keys = await redis?.run(async (connected) => {
      const found: string[] = [];
      for await (const page of connected.scanIterator({ MATCH: `${redis?.prefix}agent:*`, COUNT: 1000 }))
        found.push(...page.filter((key) => taskIds.some((taskId) => key.includes(taskId))));
      return found.length;
    }, 5000);
    return (rows[0]?.count ?? 0) + (keys ?? 0);
  }

  async function expectGone(user: Chatter, threadId: string, taskIds: readonly string[]): Promise<void> {
    expect((await user.call('GET', `/threads/${threadId}`)).status).toBe(404);
    expect(await user.messages(threadId)).toEqual([]);
    expect((await user.call('GET', `/thread/${threadId}/current-task`)).body).toEqual({ task: null });
    const { threads } = (await user.call<{ threads: { threadId: string }[] }>('GET', '/threads?limit=200')).body;
    expect(threads.map((thread) => thread.threadId)).not.toContain(threadId);
    for (const taskId of taskIds) {
      expect((await user.call('GET', `/task/${taskId}`)).status).toBe(404);
      expect((await user.stream(taskId)).status).toBe(404);
    }
    expect(await leftOf(threadId, taskIds)).toBe(0);
  }

  const newAsset = async (user: Chatter, scopeId: string) => {
    const media = rig.media.client(user.credential);
    const { registration, assetId } = await upload(media, await makeImage('png'), { scopeKind: 'thread', scopeId });
    expect((await media.register(registration)).status).toBe(201);
    return assetId;
  };
  const assetsOf = async (user: Chatter, threadId: string) => {
    const query = `scopeKind=thread&scopeId=${threadId}`;
    const { body } = await rig.media
      .client(user.credential)
      .get<{ assets: { assetId: string }[] }>(`/v1/assets?${query}`);
    return body.assets.map(({ assetId }) => assetId);
  };

  describe('DELETE /threads/:threadId', () => {
    it('removes messages, runs and event logs, and keeps charges and usage', async () => {
      const user = await rig.user();
      const [threadId, other] = [newThread(), newThread()];
      const taskIds = [await say(user, threadId, 'hi'), await say(user, threadId, 'Make an image of a bee')];
      await say(user, other, 'hi');
      expect(await leftOf(threadId, taskIds)).toBeGreaterThan(6);
      const [credits, usage] = [await rig.credits(user), (await user.call('GET', '/usage')).body];
      expect((await remove(user, threadId)).status).toBe(204);
      await expectGone(user, threadId, taskIds);
      expect([await rig.credits(user), (await user.call('GET', '/usage')).body]).toEqual([credits, usage]);
      expect((await user.messages(other)).length).toBe(2);
      expect((await remove(user, threadId)).status).toBe(404);
    });

    it('first stops the run in progress: readers see its end, and shown text is charged', async () => {
      const user = await rig.user();
      const threadId = newThread();
      const taskId = await user.ask(threadId, '/slow 60');
      const hasBegun = Promise.withResolvers<void>();
      const reading = user.stream(taskId, {
        onEvent: ({ data }) => data.type === 'text-delta' && hasBegun.resolve(),
      });
      await hasBegun.promise;
      expect((await remove(user, threadId)).status).toBe(204);
      const { done, events } = await reading;
      expect([done, events.at(-1)?.data.type]).toEqual([true, 'abort']);
      await expectGone(user, threadId, [taskId]);
      expect(await rig.credits(user)).toBe(999);
    });

    it('takes the run from a process that does not react, and that process restores nothing', {
      timeout: 30_000,
    }, async () => {
      const user = await rig.user();
      const threadId = newThread();
      const there = rig.at(deaf.url, user);
      const taskId = await there.ask(threadId, '/slow 8');
      const hasBegun = Promise.withResolvers<void>();
      const onEvent = ({ data }: { data: { type: string } }) => data.type === 'text-delta' && hasBegun.resolve();
      const readings = [there.stream(taskId, { onEvent }), user.stream(taskId)];
      await hasBegun.promise;
      expect((await remove(user, threadId)).status).toBe(204);
      await expectGone(user, threadId, [taskId]);
      for (const { done } of await Promise.all(readings)) expect(done).toBe(true);
      await sleep(500);
      await expectGone(user, threadId, [taskId]);
    });

    it('cancels videos: their credits return, and a clip that is finished later is no part of anything', async () => {
      const user = await rig.user();
      const threadId = newThread();
      const taskId = await say(user, threadId, 'Make a patient video of a bee');
      expect(await rig.credits(user)).toBe(959);
      expect((await remove(user, threadId, '?assets=true')).status).toBe(204);
      expect(await rig.credits(user)).toBe(999);
      releaseVideos();
      await expectGone(user, threadId, [taskId]);
      await expect.poll(() => assetsOf(user, threadId), { timeout: 10_000 }).toEqual([]);
      expect(await rig.credits(user)).toBe(999);
    });

    it('preserves assets, or deletes those of the thread with `assets=true`', async () => {
      const user = await rig.user();
      const [kept, dropped] = [newThread(), newThread()];
      for (const threadId of [kept, dropped]) await say(user, threadId, 'Make an image of a bee');
      const attached = await newAsset(user, 'library');
      const parts = [{ type: 'file', mediaType: 'image/png', url: `asset:${attached}` }];
      const { body } = await user.call('POST', '/task', { threadId: dropped, message: { role: 'user', parts } });
      await user.ended(String(body.taskId));
      expect((await remove(user, kept, '?assets=false')).status).toBe(204);
      expect((await remove(user, dropped, '?assets=true')).status).toBe(204);
      expect((await assetsOf(user, kept)).length).toBe(1);
      expect(await assetsOf(user, dropped)).toEqual([]);
      expect(await assetsOf(user, 'library')).toEqual([attached]);
      expect((await remove(user, newThread(), '?assets=maybe')).status).toBe(400);
    });

    it('removes an asset stored after the deletion, but none of a new thread with the same id', async () => {
      const user = await rig.user();
      const [gone, again] = [newThread(), newThread()];
      for (const threadId of [gone, again]) {
        await say(user, threadId, 'hi');
        expect((await remove(user, threadId, '?assets=true')).status).toBe(204);
      }
      await newAsset(user, gone);
      await say(user, again, 'Make an image of a bee');
      await sql`update jobs set run_at = now() where queue = ${clearingQueue.name}`.execute(
        rig.media.database.queries(),
      );
      await expect.poll(() => assetsOf(user, gone)).toEqual([]);
      expect((await assetsOf(user, again)).length).toBe(1);
    });

    it('frees the id: a new thread with it contains nothing of the old thread', async () => {
      const [user, next] = [await rig.user(), await rig.user()];
      const threadId = newThread();
      await say(user, threadId, 'My secret');
      await remove(user, threadId);
      await say(next, threadId, 'hi');
      const messages = await next.messages(threadId);
      expect([messages.length, JSON.stringify(messages).includes('secret')]).toEqual([2, false]);
      expect((await next.call('GET', `/threads/${threadId}`)).body).toMatchObject({ title: 'hi', messageCount: 2 });
    });

    it('a repetition of the start with its Idempotency-Key does not bring the thread back', async () => {
      const user = await rig.user();
      const [threadId, key] = [newThread(), { 'idempotency-key': randomUUID() }];
      const first = await user.call('POST', '/task', { threadId, text: 'hi' }, key);
      await user.ended(String(first.body.taskId));
      await remove(user, threadId);
      const again = await user.call('POST', '/task', { threadId, text: 'hi' }, key);
      expect([again.status, again.body]).toEqual([201, first.body]);
      await expectGone(user, threadId, [String(first.body.taskId)]);
    });
  });

  describe('a deletion that cannot be finished', () => {
    const threadId = newThread();
    let user: Chatter;
    let taskId: string;
    beforeAll(async () => {
      user = await rig.user();
      taskId = await say(user, threadId, 'Make an image of a bee');
    });

    it('returns 503, and the thread is hidden and rejects messages', async () => {
      expect((await remove(rig.at(cutOff.url, user), threadId, '?assets=true')).status).toBe(503);
      expect((await user.call('GET', `/threads/${threadId}`)).status).toBe(404);
      expect(await user.messages(threadId)).toEqual([]);
      const refused = await user.call('POST', '/task', { threadId, text: 'hi' });
      expect([refused.status, refused.body]).toMatchObject([
        409,
        { error: 'thread_deleting', reason: 'thread_deleting' },
      ]);
      expect((await user.call('PATCH', `/threads/${threadId}`, { title: 'mine' })).status).toBe(404);
      expect((await (await rig.user()).call('GET', `/threads/${threadId}`)).status).toBe(403);
      expect(await rig.credits(user)).toBe(997);
    });

    it('is finished by a repetition, with the assets even if that does not name them', async () => {
      expect((await remove(user, threadId)).status).toBe(204);
      await expectGone(user, threadId, [taskId]);
      expect(await assetsOf(user, threadId)).toEqual([]);
      expect((await remove(user, threadId)).status).toBe(404);
    });

    it('is finished by a job of any process', async () => {
      const other = newThread();
      const task = await say(user, other, 'Make an image of a bee');
      expect((await remove(rig.at(hasty.url, user), other, '?assets=true')).status).toBe(503);
      await expect.poll(() => leftOf(other, [task]), { timeout: 40_000, interval: 200 }).toBe(0);
      expect(await assetsOf(user, other)).toEqual([]);
    });

    it('is left to another worker by a job that has to stop', async () => {
      const other = newThread();
      const task = await say(user, other, 'Hello');
      await sql`update agent_threads set deleting_at = now() where thread_id = ${other}`.execute(
        rig.media.database.queries(),
      );
      const handle = handlers.get('agent/delete-threads') ?? expect.fail('there is no handler');
      const payload = { ownerId: user.userId };
      await expect(handle({ payload, signal: AbortSignal.abort(new WorkerStopping()) })).rejects.toThrow(
        WorkerStopping,
      );
      expect(await leftOf(other, [])).toBeGreaterThan(0);
      await handle({ payload, signal: new AbortController().signal });
      expect(await leftOf(other, [task])).toBe(0);
    });
  });

  describe('DELETE /threads', () => {
    it("deletes all of the caller's threads, and those of no one else", async () => {
      const [user, other] = [await rig.user(), await rig.user()];
      const threadIds = Array.from({ length: 7 }, newThread);
      const taskIds = await Promise.all(threadIds.slice(1).map((threadId) => say(user, threadId, 'hi')));
      const running = await user.ask(threadIds[0] ?? '', '/slow 60');
      const foreign = newThread();
      await say(other, foreign, 'hi');
      expect((await user.call('DELETE', '/threads')).status).toBe(204);
      expect((await user.call('GET', '/threads')).body).toEqual({ threads: [], next_cursor: null });
      for (const [index, threadId] of threadIds.slice(1).entries())
        await expectGone(user, threadId, [taskIds[index] ?? '']);
      await expectGone(user, threadIds[0] ?? '', [running]);
      expect((await other.messages(foreign)).length).toBe(2);
      expect((await user.call('DELETE', '/threads')).status).toBe(204);
    });

    it('also deletes the assets for a server that names the user', async () => {
      const user = await rig.user();
      const threadId = newThread();
      await say(user, threadId, 'Make an image of a bee');
      const { status } = await rig.server.call('DELETE', `/threads?userId=${user.userId}&assets=true`);
      expect([status, await assetsOf(user, threadId)]).toEqual([204, []]);
    });
  });
});
