/** What is made is charged and readable in one step, or neither: runs and threads are stopped and deleted at any moment. */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentTables } from '#agent/tables.ts';
import { offlineVideos } from '#local/renderer/renderer.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { type Books, listAssets, randomOf, readBooks } from './books.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import { calling, imageAnswer, json, type ScriptedRig, startScripted } from './scripted.fixture.ts';

const patience = { timeout: 120_000 };
const credits = 100_000;
const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));

/** Waits until nothing is reserved, and expects every account to say the same. */
async function expectAgreement(rig: ScriptedRig, user: Chatter): Promise<Books> {
  const look = async () => {
    const { open, settled, library, usage, spent } = await readBooks(rig, user, credits);
    return { open, library, usage, spent: [spent, settled.credits] };
  };
  const agreed = async () => {
    const { settled } = await readBooks(rig, user, credits);
    return {
      open: 0,
      library: { images: settled.images, videos: settled.videos },
      usage: settled,
      spent: [settled.credits, settled.credits],
    };
  };
  await expect.poll(async () => JSON.stringify(await look()) === JSON.stringify(await agreed()), patience).toBe(true);
  expect(await look()).toEqual(await agreed());
  return readBooks(rig, user, credits);
}

/** As if the process were dead: another one ends the run, and this one can write no more of it. */
async function takeOver(rig: ScriptedRig, taskId: string): Promise<void> {
  await rig.media.database
    .queries<AgentTables>()
    .updateTable('agent_runs')
    .set((eb) => ({ holder: randomUUID(), fence: eb('fence', '+', 1), lease_expires_at: sql<Date>`now()` }))
    .where('task_id', '=', taskId)
    .where('status', '=', 'running')
    .execute();
}

describe('media of runs and threads that end while it is delivered', () => {
  const tries = isNightly ? 20 : 3;
  let png: Buffer;
  let mp4: Buffer;
  beforeAll(async () => {
    png = await makeImage('png');
    const order = { prompt: 'a clip', ratio: '16:9', signal: new AbortController().signal };
    mp4 = Buffer.from((await offlineVideos.download(order)).bytes);
  });

  const settings = { freeCancels: 1000, maxRunsPerUser: 1000 };
  const generators = [
    ['videos with a poster', { changes: { videoGenerator: offlineVideos, pace: { videoWaitMs: 0 } }, settings }],
    [
      'videos of a provider',
      { changes: { pace: { videoWaitMs: 0 } }, settings, screening: { ffmpegPath: '/nowhere' } },
    ],
  ] as const;

  it.each(generators)(
    '%s, whose thread is deleted once one is readable: none is free',
    { timeout: 300_000 },
    async (_title, options) => {
      const rig = await startScripted(options);
      const user = await rig.user('max', credits);
      await mapConcurrently(Array.from({ length: tries }), 4, async () => {
        const id = `v${randomUUID()}`;
        const threadId = newThread();
        rig.provider.on(`<${id}>`, ...calling('generateVideo', { prompt: `clip ${id}` }));
        rig.provider.on(`clip ${id}`, json({ id, status: 'queued' }));
        rig.provider.on(`/videos/${id}/content`, { answer: { type: 'video/mp4', body: mp4 } });
        rig.provider.on(`/videos/${id} `, json({ id, status: 'completed' }));
        await user.ask(threadId, `<${id}>`);
        // The poster or the clip, whatever is readable first.
        const isReadable = async () =>
          (await listAssets(rig, user, `&scopeKind=thread&scopeId=${threadId}`)).length > 0;
        await expect.poll(isReadable, { ...patience, interval: 2 }).toBe(true);
        expect((await user.call('DELETE', `/threads/${threadId}`)).status).toBe(204);
      });
      const { library } = await expectAgreement(rig, user);
      expect(library.videos).toBe(tries);
      await rig.close();
    },
  );

  it(`videos of threads deleted at any moment (seed ${seed}): each is charged or gone`, {
    timeout: 300_000,
  }, async () => {
    const rig = await startScripted({ settings, changes: { pace: { videoWaitMs: 0 } } });
    const random = randomOf(seed);
    const user = await rig.user('max', credits);
    await mapConcurrently(
      Array.from({ length: tries }, () => random() * 700),
      4,
      async (afterMs) => {
        const id = `v${randomUUID()}`;
        const threadId = newThread();
        rig.provider.on(`<${id}>`, ...calling('generateVideo', { prompt: `clip ${id}` }));
        rig.provider.on(`clip ${id}`, json({ id, status: 'queued' }));
        rig.provider.on(`/videos/${id}/content`, { answer: { type: 'video/mp4', body: mp4 } });
        rig.provider.on(`/videos/${id} `, json({ id, status: 'completed' }));
        await user.ask(threadId, `<${id}>`);
        await sleep(afterMs);
        await user.call('DELETE', `/threads/${threadId}`);
      },
    );
    await expectAgreement(rig, user);
    await rig.close();
  });

  it.runIf(isNightly)(
    `images of runs that are stopped, killed, deleted or dropped at any moment (seed ${seed}): each is charged or gone`,
    {
      timeout: 300_000,
    },
    async () => {
      const rig = await startScripted({ settings });
      const random = randomOf(seed + 1);
      const user = await rig.user('max', credits);
      const kept: string[] = [];
      const plan = Array.from({ length: 200 }, () => ({ afterMs: random() * 250, way: random() }));
      await mapConcurrently(plan, 8, async ({ afterMs, way }) => {
        const id = randomUUID();
        const threadId = newThread();
        rig.provider.on(`<${id}>`, ...calling('generateImage', { prompt: `image ${id}` }));
        rig.provider.on(`image ${id}`, imageAnswer(png));
        const taskId = await user.ask(threadId, `<${id}>`);
        await sleep(afterMs);
        if (way < 0.7) kept.push(threadId);
        if (way < 0.5) await user.call('DELETE', `/task/${taskId}`);
        else if (way < 0.7) await takeOver(rig, taskId);
        else if (way < 0.9) await user.call('DELETE', `/threads/${threadId}`);
        else {
          await user.ended(taskId);
          const rewindTo = (await user.messages(threadId))[0]?.id;
          rig.provider.on('Never mind.', { text: 'So be it.' });
          const { body } = await user.call('POST', '/task', { threadId, text: 'Never mind.', rewindTo });
          await user.ended(String(body.taskId));
        }
      });
      const { library } = await expectAgreement(rig, user);
      // Some were stopped early, and some too late.
      expect(library.images).toBeGreaterThan(0);
      expect(library.images).toBeLessThan(200);
      // What was delivered is shown, also if its run had ended before the tool returned.
      for (const threadId of kept) {
        const parts = (await user.messages(threadId)).flatMap((message) => message.parts);
        const shown = parts.filter(({ output }) => Reflect.get(Object(output), 'status') === 'completed');
        const made = await listAssets(rig, user, `&scopeKind=thread&scopeId=${threadId}`);
        expect(shown.map(({ output }) => Reflect.get(Object(output), 'assetId'))).toEqual(
          made.map(({ assetId }) => assetId),
        );
      }
      const keys: string[] = [];
      for await (const { key } of rig.media.originals.list(`u/${user.userId}/`)) keys.push(key);
      expect(keys).toHaveLength(library.images);
      await rig.close();
    },
  );
});

describe('an asset that credits are reserved for', () => {
  let rig: ScriptedRig;
  beforeAll(async () => {
    rig = await startScripted({ settings: { freeCancels: 0 } });
  });
  afterAll(() => rig.close());

  it('can be registered by no one without its charge', async () => {
    const png = await makeImage('png');
    const user = await rig.user('pro', 100);
    const id = randomUUID();
    const prompt = `image ${id}`;
    rig.provider.on(prompt, { hang: true });
    rig.provider.on(`<${id}>`, ...calling('generateImage', { prompt }));
    const threadId = newThread();
    const taskId = await user.ask(threadId, `<${id}>`);
    const isOrdered = () => rig.provider.requests.some(({ body }) => Reflect.get(Object(body), 'prompt') === prompt);
    await expect.poll(isOrdered, patience).toBe(true);
    const [entry] = await rig.media.database
      .queries<{ credit_ledger: { asset_id: string; user_id: string; state: string } }>()
      .selectFrom('credit_ledger')
      .select('asset_id')
      .where('user_id', '=', user.userId)
      .where('asset_id', 'is not', null)
      .execute();
    const { upload } = await import('../media/rig.fixture.ts');
    const place = { kind: 'image', scopeKind: 'thread', scopeId: threadId, assetId: String(entry?.asset_id) };
    // Another user may know the id.
    const other = rig.media.client((await rig.user('pro', 100)).credential);
    const stolen = await upload(other, png, { ...place, mime: 'image/png' });
    expect(await other.register(stolen.registration)).toMatchObject({ status: 409, body: { error: 'charge_closed' } });
    expect(await rig.media.originals.head(stolen.storageKey)).toBeUndefined();
    // The owner pays.
    const own = rig.media.client(user.credential);
    const { registration } = await upload(own, png, { ...place, mime: 'image/png' });
    expect((await own.register(registration)).status).toBe(201);
    await user.call('DELETE', `/task/${taskId}`);
    expect((await user.ended(taskId)).status).toBe('aborted');
    expect(await rig.credits(user)).toBe(97);
  });
});
