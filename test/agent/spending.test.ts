/** What users can spend and hold: cancellations, turns of owners, and the limits of a run. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentTables } from '#agent/tables.ts';
import { offlineVideos } from '#local/renderer/renderer.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import { imageAnswer, json, type ScriptedRig, startScripted } from './scripted.fixture.ts';

const patience = { timeout: 60_000 };
let rig: ScriptedRig;
let png: Buffer;
let mp4: Buffer;
beforeAll(async () => {
  rig = await startScripted({
    settings: { freeCancels: 2 },
    changes: { pace: { videoWaitMs: 0 } },
    screening: { ffmpegPath: '/nowhere' },
  });
  png = await makeImage('png');
  const order = { prompt: 'a clip', ratio: '16:9', signal: new AbortController().signal };
  mp4 = Buffer.from((await offlineVideos.download(order)).bytes);
});
afterAll(() => rig.close());

const promptOf = (id: string) => `clip ${id}`;
const isOrdered = (id: string) =>
  rig.provider.requests.some(({ path, body }) => path === '/v1/videos' && isAbout(body, promptOf(id)));
const isAbout = (body: unknown, prompt: string) => Reflect.get(Object(body), 'prompt') === prompt;
const cancellations = (id: string) =>
  rig.provider.requests.filter(({ path, method }) => method === 'DELETE' && path.endsWith(id));

/** Orders one video whose provider never makes it; the run ends, and the video goes on. */
async function orderEndless(user: Chatter) {
  const id = `v${randomUUID()}`;
  rig.provider.on(promptOf(id), json({ id, status: 'queued' }));
  rig.provider.on(`/videos/${id} `, json({ id, status: 'in_progress' }));
  const call = { id: 'call_0', name: 'generateVideo', args: { prompt: promptOf(id) } };
  const { taskId, threadId } = await rig.runScript(user, [{ calls: [call] }, { text: 'It is coming.' }]);
  return { id, taskId, threadId };
}

describe('a canceled video', () => {
  it('is canceled at its provider, whatever cancels it, and free as often as allowed', async () => {
    const user = await rig.user('max', 1000);
    const orders = [await orderEndless(user), await orderEndless(user), await orderEndless(user)];
    await expect.poll(() => orders.every(({ id }) => isOrdered(id)), patience).toBe(true);
    await expect.poll(() => storedIds(orders), patience).toEqual(orders.map(({ id }) => id));
    const [first, second, third] = orders as [Ordered, Ordered, Ordered];
    expect((await user.call('DELETE', `/task/${first.taskId}`)).status).toBe(204);
    expect((await user.call('DELETE', `/threads/${second.threadId}`)).status).toBe(204);
    const rewindTo = (await user.messages(third.threadId))[0]?.id;
    rig.provider.on('Never mind.', { text: 'So be it.' });
    const started = await user.call('POST', '/task', { threadId: third.threadId, text: 'Never mind.', rewindTo });
    await user.ended(String(started.body.taskId));
    // Four runs, and the third cancellation of two that are free.
    expect(await rig.credits(user)).toBe(1000 - 4 - 40);
    const { body } = await user.call<{ days: { credits: number; videos: number }[] }>('GET', '/usage');
    expect(body.days.reduce((sum, { credits }) => sum + credits, 0)).toBe(44);
    expect(body.days.reduce((sum, { videos }) => sum + videos, 0)).toBe(0);
    for (const { id } of orders) await expect.poll(() => cancellations(id).length, patience).toBe(1);
    // A repetition changes nothing.
    expect((await user.call('DELETE', `/task/${first.taskId}`)).status).toBe(204);
    expect(await rig.credits(user)).toBe(1000 - 44);
  });

  it('that is still being ordered is canceled when the provider names it', async () => {
    const user = await rig.user('max', 1000);
    const id = `v${randomUUID()}`;
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    rig.provider.on(promptOf(id), { after: answered, reply: json({ id, status: 'queued' }) });
    const call = { id: 'call_0', name: 'generateVideo', args: { prompt: promptOf(id) } };
    const { taskId } = await rig.runScript(user, [{ calls: [call] }, { text: 'It is coming.' }]);
    await expect.poll(() => isOrdered(id), patience).toBe(true);
    expect((await user.call('DELETE', `/task/${taskId}`)).status).toBe(204);
    answer();
    await expect.poll(() => cancellations(id).length, patience).toBe(1);
    expect(await rig.credits(user)).toBe(999);
  });

  it('counts exactly among concurrent cancellations', async () => {
    const user = await rig.user('max', 1000);
    const taskIds = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const word = `<waiting ${randomUUID()}>`;
        rig.provider.on(word, { hang: true });
        const taskId = await user.ask(newThread(), word);
        await expect
          .poll(() => rig.provider.requests.some(({ body }) => JSON.stringify(body).includes(word)))
          .toBe(true);
        return taskId;
      }),
    );
    await Promise.all(taskIds.map((taskId) => user.call('DELETE', `/task/${taskId}`)));
    await Promise.all(taskIds.map((taskId) => user.ended(taskId)));
    expect(await rig.credits(user)).toBe(1000 - 6);
  });
});

type Ordered = Awaited<ReturnType<typeof orderEndless>>;

const storedIds = async (orders: readonly Ordered[]) => {
  const rows = await rig.media.database
    .queries<AgentTables>()
    .selectFrom('agent_videos')
    .select(['task_id', 'provider_id'])
    .execute();
  return orders.map(({ taskId }) => rows.find((row) => row.task_id === taskId)?.provider_id);
};

describe('a canceled image', () => {
  it('ends the request to its provider, and is charged once the free cancellations are used up', async () => {
    const user = await rig.user('pro', 100);
    for (const expected of [99, 98, 95]) {
      const id = randomUUID();
      rig.provider.on(`image ${id}`, { hang: true });
      const call = { id: 'call_0', name: 'generateImage', args: { prompt: `image ${id}` } };
      rig.provider.on(`<${id}>`, { calls: [call] });
      const taskId = await user.ask(newThread(), `<${id}>`);
      const isOrder = ({ body }: { readonly body: unknown }) => isAbout(body, `image ${id}`);
      await expect.poll(() => rig.provider.requests.some(isOrder), patience).toBe(true);
      await user.call('DELETE', `/task/${taskId}`);
      expect((await user.ended(taskId)).status).toBe('aborted');
      await expect.poll(() => rig.provider.abandoned.some(isOrder), patience).toBe(true);
      expect(await rig.credits(user)).toBe(expected);
    }
    const { body } = await user.call<{ days: { credits: number; images: number }[] }>('GET', '/usage');
    expect(body.days.map(({ credits, images }) => [credits, images])).toEqual([[5, 0]]);
  });
});

describe('videos of several users', () => {
  it.runIf(isNightly)('take turns: 20 endless ones of one user delay no other, and at most 5 are ordered', async () => {
    const [greedy, modest] = [await rig.user('max', 1000), await rig.user('max', 1000)];
    const orders: Ordered[] = [];
    for (let count = 0; count < 20; count++) orders.push(await orderEndless(greedy));
    const ordered = () => orders.filter(({ id }) => isOrdered(id)).map(({ id }) => id);
    await expect.poll(() => ordered().length, patience).toBe(5);
    const other = await orderEndless(modest);
    await expect.poll(() => isOrdered(other.id), { timeout: 30_000, interval: 20 }).toBe(true);
    // The oldest ones, and all are reserved.
    expect(ordered()).toEqual(orders.slice(0, 5).map(({ id }) => id));
    expect(await rig.credits(greedy)).toBe(1000 - 20 - 20 * 40);
    // A video that ends makes room for the next one in order.
    const [first, , third] = orders as [Ordered, Ordered, Ordered];
    await greedy.call('DELETE', `/task/${third.taskId}`);
    await expect.poll(ordered, patience).toEqual(orders.slice(0, 6).map(({ id }) => id));
    rig.provider.on(`/videos/${first.id}/content`, { answer: { type: 'video/mp4', body: mp4 } });
    rig.provider.on(`/videos/${first.id} `, json({ id: first.id, status: 'completed' }));
    await expect.poll(ordered, patience).toEqual(orders.slice(0, 7).map(({ id }) => id));
    // One that waits is canceled without a word to the provider, and is no free cancellation used.
    const last = orders.at(-1) as Ordered;
    await greedy.call('DELETE', `/task/${last.taskId}`);
    expect(await rig.credits(greedy)).toBe(1000 - 20 - 18 * 40);
    await Promise.all(orders.map(({ threadId }) => greedy.call('DELETE', `/threads/${threadId}`)));
    expect(cancellations(last.id)).toEqual([]);
    expect(isOrdered(last.id)).toBe(false);
  });
});

describe('a process that dies', () => {
  it('before it stored the name of an order: there is no second order, and the video is free', async () => {
    const user = await rig.user('max', 1000);
    // More than are ordered at a time, so the last one has no job yet.
    const orders: Ordered[] = [];
    for (let count = 0; count < 6; count++) orders.push(await orderEndless(user));
    const last = orders.at(-1) as Ordered;
    // As the dying process leaves it.
    await rig.media.database
      .queries<AgentTables>()
      .updateTable('agent_videos')
      .set({ ordered_at: new Date() })
      .where('task_id', '=', last.taskId)
      .execute();
    await user.call('DELETE', `/task/${orders[0]?.taskId}`);
    const shown = async () =>
      (await user.messages(last.threadId)).flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'data-video' ? [Reflect.get(Object(part.data), 'failure')] : [])),
      );
    await expect.poll(shown, patience).toMatchObject([{ code: 'provider_failed' }]);
    expect(isOrdered(last.id)).toBe(false);
    expect(await rig.credits(user)).toBe(1000 - 6 - 4 * 40);
    await Promise.all(orders.map(({ threadId }) => user.call('DELETE', `/threads/${threadId}`)));
  });
});

describe('a run', () => {
  const outputsOf = (tools: readonly Record<string, unknown>[]) =>
    tools.map(({ output }) => output as { status: string; failure?: { code: string } });

  it('carries out the first 16 of 200 tool calls of one step', { timeout: 120_000 }, async () => {
    const user = await rig.user('max', 1000);
    const id = randomUUID();
    rig.provider.on(`image ${id}`, imageAnswer(png));
    const calls = Array.from({ length: 200 }, (_, index) => ({
      id: `call_${index}`,
      name: 'generateImage',
      args: { prompt: `image ${id} ${index}` },
    }));
    const { status, tools, answer } = await rig.runScript(user, [{ calls }, { text: 'So be it.' }]);
    expect(status).toBe('completed');
    const outputs = outputsOf(tools);
    expect(outputs.slice(0, 16).every((output) => output.status === 'completed')).toBe(true);
    expect(outputs.slice(16).every(({ failure }) => failure?.code === 'too_many_tool_calls')).toBe(true);
    expect(outputs).toHaveLength(200);
    expect([answer?.metadata.credits, await rig.credits(user)]).toEqual([33, 967]);
    expect(
      rig.provider.requests.filter(
        ({ path, body }) => path.endsWith('/generations') && JSON.stringify(body).includes(id),
      ),
    ).toHaveLength(16);
  });

  it('spends at most 200 credits: what exceeds them is not carried out', { timeout: 120_000 }, async () => {
    const user = await rig.user('max', 1000);
    const ids = Array.from({ length: 6 }, () => `v${randomUUID()}`);
    for (const id of ids) {
      rig.provider.on(promptOf(id), json({ id, status: 'queued' }));
      rig.provider.on(`/videos/${id} `, json({ id, status: 'in_progress' }));
    }
    const steps = ids.map((id, index) => ({
      calls: [{ id: `call_${index}`, name: 'generateVideo', args: { prompt: promptOf(id) } }],
    }));
    const { status, tools, threadId } = await rig.runScript(user, [...steps, { text: 'So be it.' }]);
    expect(status).toBe('completed');
    const outputs = outputsOf(tools);
    expect(outputs.map(({ failure }) => failure?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'run_credit_limit',
      'run_credit_limit',
    ]);
    // The run and four videos.
    expect(await rig.credits(user)).toBe(1000 - 161);
    await user.call('DELETE', `/threads/${threadId}`);
  });

  it('whose model returns nothing fails and is free', async () => {
    const user = await rig.user('pro', 100);
    const { status, error, taskId, answer } = await rig.runScript(user, [{ text: '' }]);
    expect([status, error, answer]).toEqual(['failed', 'The model returned nothing.', undefined]);
    expect(await user.task(taskId)).toMatchObject({ errorCode: 'empty_answer' });
    expect(await rig.credits(user)).toBe(100);
    const { events } = await user.stream(taskId);
    expect(events.at(-1)?.data).toMatchObject({ type: 'error', errorText: 'The model returned nothing.' });
  });
});
