import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '#platform/db/db.ts';
import { newThread } from '../../../test/agent/rig.fixture.ts';
import { calling, imageAnswer, json, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { type Listening, listen, typesOf } from '../../../test/agent/userevents.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import type { UserEvent } from '../tables.ts';
import { insertUserEvents } from './usereventstore.ts';

let rig: ScriptedRig;
const pace = { heartbeatEveryMs: 100, stalledAfterMs: 300, lookEveryMs: 100, videoWaitMs: 50 };
const delta = JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Half a sen' } }] });

beforeAll(async () => {
  rig = await startScripted({ changes: { pace }, settings: { drainS: 3 } });
  rig.provider.on('a bee', imageAnswer(await makeImage('png')));
  rig.provider.on('a refused one', json({ error: { message: 'no bees' } }, 400));
  rig.provider.on('<stall>', { answer: { type: 'text/event-stream', body: `data: ${delta}\n\n`, stall: true } });
});
afterAll(() => rig.close());

const write = (userId: string, events: readonly UserEvent[]) =>
  transaction(rig.media.database.queries(), (tx) => insertUserEvents(tx, userId, events));
const updates = (...threadIds: readonly string[]) =>
  threadIds.map((threadId) => ({ type: 'thread.updated', threadId }) as const);
const receivedEvents = async ({ events }: Listening, count: number) => {
  await expect.poll(() => events.length).toBe(count);
  return events.map(({ data }) => data);
};
const at = { timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) };

describe('the events of a run', () => {
  it('report the start and end of a run, its media, and the remaining credits', async () => {
    const user = await rig.user('pro', 10);
    const listening = await listen(rig.url, user);
    expect(listening.headers.get('content-type')).toBe('text/event-stream');
    expect(listening.headers.get('cache-control')).toContain('no-cache');
    const { threadId, taskId, tools } = await rig.runScript(user, calling('generateImage', { prompt: 'a bee' }));
    const { assetId } = Object(tools[0]?.output);
    const of = { threadId, taskId };
    expect(await receivedEvents(listening, 6)).toEqual([
      { type: 'thread.updated', threadId, ...at },
      { type: 'run.started', ...of, ...at },
      { type: 'media.completed', ...of, kind: 'image', toolCallId: 'call_0', assetId, ...at },
      { type: 'thread.updated', threadId, ...at },
      { type: 'credits.changed', ...of, credits: 7, ...at },
      { type: 'run.ended', ...of, status: 'completed', error: null, ...at },
    ]);
    expect(listening.events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
    await listening.close();
  });

  it('report what failed, and why', async () => {
    const user = await rig.user('pro', 10);
    const listening = await listen(rig.url, user);
    const refused = await rig.runScript(user, calling('generateImage', { prompt: 'a refused one' }));
    const of = { threadId: refused.threadId, taskId: refused.taskId };
    const first = await receivedEvents(listening, 6);
    expect(first[2]).toEqual({
      type: 'media.failed',
      ...of,
      kind: 'image',
      toolCallId: 'call_0',
      error: expect.stringContaining('no bees'),
      ...at,
    });
    await rig.runScript(user, [{ half: 'Half a wo' }]);
    const all = await receivedEvents(listening, 11);
    expect(all.slice(-2)).toMatchObject([
      { type: 'credits.changed', credits: 9 },
      { type: 'run.ended', status: 'failed', error: expect.any(String) },
    ]);
    await listening.close();
  });

  it('report a stopped run', async () => {
    const user = await rig.user('pro', 10);
    const listening = await listen(rig.url, user);
    const taskId = await user.ask(newThread(), '<stall>');
    await user.stream(taskId, { cutAfter: 3 });
    await user.call('DELETE', `/task/${taskId}`);
    expect((await receivedEvents(listening, 5)).at(-1)).toMatchObject({ type: 'run.ended', taskId, status: 'aborted' });
    await listening.close();
  });

  it('report a video that completes or fails after the end of its run', async () => {
    const user = await rig.user('pro', 100);
    const listening = await listen(rig.url, user);
    const { offlineVideos } = await import('#local/renderer/renderer.ts');
    const clip = await offlineVideos.download({ prompt: 'x', ratio: '16:9', signal: new AbortController().signal });
    for (const status of ['completed', 'failed']) {
      const id = `v${randomUUID()}`;
      const waiting = Array.from({ length: 20 }, () => json({ id, status: 'in_progress' }));
      rig.provider.on(`clip ${id}`, json({ id, status: 'queued' }));
      rig.provider.on(`/videos/${id}/content`, { answer: { type: 'video/mp4', body: clip.bytes } });
      rig.provider.on(`/videos/${id} `, ...waiting, json({ id, status, error: { message: 'no film' } }));
      const { threadId, taskId } = await rig.runScript(user, calling('generateVideo', { prompt: `clip ${id}` }));
      const of = { threadId, taskId };
      await expect.poll(() => typesOf(listening.events).includes(`media.${status}`), { timeout: 20_000 }).toBe(true);
      const events = listening.events.map(({ data }) => data).filter((data) => data.taskId === taskId);
      const types = events.map(({ type }) => type);
      expect(types.indexOf(`media.${status}`)).toBeGreaterThan(types.indexOf('run.ended'));
      expect(events.find(({ type }) => type === `media.${status}`)).toMatchObject({ ...of, kind: 'video' });
      const { body } = await user.call<{ generations: { id: string }[] }>('GET', '/generations?limit=1');
      const [generation] = body.generations;
      expect(generation).toMatchObject({ origin: 'run', taskId, status });
      const end = listening.events.find(({ data }) => data.type === `generation.${status}`);
      expect(end?.data).toMatchObject({ generationId: generation?.id, kind: 'video' });
      await expect
        .poll(() => listening.events.findLast(({ data }) => data.type === 'credits.changed')?.data)
        .toMatchObject({ ...of, credits: status === 'completed' ? 59 : 58 });
    }
    await listening.close();
  });
});

describe('the events of threads', () => {
  it('report a new name and a generated title', async () => {
    const user = await rig.user();
    const listening = await listen(rig.url, user);
    const threadId = newThread();
    rig.provider.on('<named>', { text: 'ok' });
    rig.provider.onTitle('<named>', { text: 'A title' });
    await user.ask(threadId, '<named>');
    // The start, the end, and the title.
    await expect.poll(() => typesOf(listening.events).filter((type) => type === 'thread.updated').length).toBe(3);
    const last = listening.events.at(-1)?.id;
    expect((await user.call('PATCH', `/threads/${threadId}`, { title: 'Mine' })).status).toBe(200);
    await expect.poll(() => listening.events.at(-1)?.id).toBe(String(Number(last) + 1));
    expect(listening.events.at(-1)?.data).toEqual({ type: 'thread.updated', threadId, ...at });
    await listening.close();
  });

  it('report the deletion of a thread and the end of its run, and nothing after them', async () => {
    const user = await rig.user();
    const listening = await listen(rig.url, user);
    const threadId = newThread();
    const taskId = await user.ask(threadId, '<stall>');
    await user.stream(taskId, { cutAfter: 3 });
    expect((await user.call('DELETE', `/threads/${threadId}`)).status).toBe(204);
    expect((await user.call('DELETE', `/threads/${threadId}`)).status).toBe(404);
    const events = await receivedEvents(listening, 5);
    expect(events.map(({ type }) => type)).toEqual([
      'thread.updated',
      'run.started',
      'thread.deleted',
      'credits.changed',
      'run.ended',
    ]);
    expect(events[2]).toEqual({ type: 'thread.deleted', threadId, ...at });
    await listening.close();
  });

  it('report each thread when all are deleted', async () => {
    const user = await rig.user();
    const threadIds = [newThread(), newThread()].sort();
    for (const threadId of threadIds) await rig.runScript(user, [{ text: 'ok' }], threadId);
    const listening = await listen(rig.url, user);
    await user.call('DELETE', '/threads');
    await expect
      .poll(() =>
        listening.events.flatMap(({ data }) => (data.type === 'thread.deleted' ? [data.threadId] : [])).sort(),
      )
      .toEqual(threadIds);
    await listening.close();
  });
});

describe('GET /events', () => {
  it('accepts only tokens', async () => {
    const user = await rig.user();
    expect((await rig.server.call('GET', '/events')).status).toBe(401);
    expect((await rig.at(rig.url, { ...user, credential: {} }).call('GET', '/events')).status).toBe(401);
    const onBehalf = { ...rig.server, credential: { ...rig.server.credential, 'x-on-behalf-of': user.userId } };
    expect((await rig.at(rig.url, onBehalf).call('GET', '/events')).status).toBe(401);
  });

  it.each(['', 'x', '-1', '1-1', '01', '1.5', '9'.repeat(16)])('refuses the id %j', async (id) => {
    const { status, body } = await (await rig.user()).call('GET', '/events', undefined, { 'last-event-id': id });
    expect([status, body]).toMatchObject([400, { issues: [{ path: 'headers.last-event-id' }] }]);
  });

  it('omits events of other users', async () => {
    const [one, two] = [await rig.user(), await rig.user()];
    const [first, second] = [await listen(rig.url, one), await listen(rig.url, two)];
    const runs = await Promise.all([one, two].map((user) => rig.runScript(user, [{ text: 'ok' }])));
    for (const [index, listening] of [first, second].entries()) {
      await receivedEvents(listening, 5);
      expect(new Set(listening.events.map(({ data }) => data.threadId))).toEqual(new Set([runs[index]?.threadId]));
    }
    const replayed = await listen(rig.url, one, '0');
    expect(await receivedEvents(replayed, 5)).toEqual(first.events.map(({ data }) => data));
    await Promise.all([first, second, replayed].map((listening) => listening.close()));
  });

  it('resumes exactly after an id, and starts now without one', async () => {
    const user = await rig.user();
    await write(user.userId, updates('a', 'b', 'c'));
    const [now, resumed, beyond] = await Promise.all([
      listen(rig.url, user),
      listen(rig.url, user, '1'),
      listen(rig.url, user, '99'),
    ]);
    await receivedEvents(resumed, 2);
    expect([now.lastEventId(), beyond.lastEventId()]).toEqual(['3', '3']);
    await write(user.userId, updates('d'));
    expect((await receivedEvents(now, 1))[0]).toMatchObject({ threadId: 'd' });
    expect((await receivedEvents(beyond, 1))[0]).toMatchObject({ threadId: 'd' });
    expect((await receivedEvents(resumed, 3)).map(({ threadId }) => threadId)).toEqual(['b', 'c', 'd']);
    await Promise.all([now, resumed, beyond].map((listening) => listening.close()));
  });

  it('resumes from the id that a reader got before its first event', async () => {
    const user = await rig.user();
    const cut = await listen(rig.url, user);
    await expect.poll(cut.lastEventId).toBe('0');
    await cut.close();
    await write(user.userId, updates('missed'));
    const resumed = await listen(rig.url, user, cut.lastEventId());
    expect(await receivedEvents(resumed, 1)).toMatchObject([{ threadId: 'missed' }]);
    await resumed.close();
  });

  it('delivers many events in order, and those of another process without its signal', async () => {
    const user = await rig.user();
    const elsewhere = await rig.another({ pace: { ...pace, leaseMs: 60_000 } });
    const listening = [await listen(rig.url, user, '0'), await listen(elsewhere.url, user, '0')];
    const threadIds = Array.from({ length: 250 }, (_, index) => `${index}`);
    await write(user.userId, updates(...threadIds));
    for (const one of listening) {
      expect((await receivedEvents(one, 250)).map(({ threadId }) => threadId)).toEqual(threadIds);
      await one.close();
    }
  });

  it('sends comments while there are no events', async () => {
    const listening = await listen(rig.url, await rig.user());
    await expect.poll(listening.comments).toBeGreaterThan(2);
    expect(listening.events).toEqual([]);
    await listening.close();
  });

  it('ends when the token expires', async () => {
    const { userId } = await rig.user();
    const token = await rig.media.issuer.token({ sub: userId, exp: Math.floor(Date.now() / 1000) + 2 });
    const listening = await listen(rig.url, { credential: { authorization: `Bearer ${token}` } });
    expect(listening.status).toBe(200);
    await listening.ended;
    expect((await listen(rig.url, { credential: { authorization: `Bearer ${token}` } })).status).toBe(401);
  });

  it('counts toward the 100 streams of a user', async () => {
    const user = await rig.user();
    const open = await Promise.all(Array.from({ length: 100 }, () => listen(rig.url, user)));
    const { status, body, headers } = await user.call('GET', '/events');
    expect([status, body.error, headers.has('retry-after')]).toEqual([429, 'too_many_streams', true]);
    const chat = { id: newThread(), messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] };
    expect((await user.call('POST', '/chat', chat)).status).toBe(429);
    expect(await user.messages(chat.id)).toEqual([]);
    await write(user.userId, updates('all'));
    await Promise.all(open.map((listening) => receivedEvents(listening, 1)));
    await Promise.all(open.map((listening) => listening.close()));
    await expect
      .poll(async () => {
        const again = await listen(rig.url, user);
        await again.close();
        return again.status;
      })
      .toBe(200);
  });

  it('drops a reader that does not read, without a delay for others', async () => {
    const user = await rig.user();
    const { hostname, port } = new URL(rig.url);
    const socket = connect(Number(port), hostname);
    const { authorization } = user.credential;
    socket.write(`GET /events HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nlast-event-id: 0\r\n\r\n`);
    socket.pause();
    const long = 'x'.repeat(50_000);
    const count = 400;
    for (let written = 0; written < count; written += 50) await write(user.userId, updates(...Array(50).fill(long)));
    const listening = await listen(rig.url, user);
    await write(user.userId, updates('another'));
    expect(await receivedEvents(listening, 1)).toMatchObject([{ threadId: 'another' }]);
    // Comments come at the moments at which the server looks for stalled readers.
    const lastComment = listening.comments() + 6;
    await expect.poll(listening.comments).toBeGreaterThan(lastComment);
    // Only what fits into the buffers has left the server.
    let bytes = 0;
    socket.on('data', (data) => (bytes += data.length)).on('error', () => undefined);
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(bytes).toBeLessThan(count * long.length);
    await listening.close();
  });

  it('reports the ends of runs while the service drains, and then closes', async () => {
    const user = await rig.user();
    const instance = await rig.another({ pace: { ...pace, leaseMs: 60_000 } });
    const there = rig.at(instance.url, user);
    const listening = await listen(instance.url, user);
    const taskId = await there.ask(newThread(), '<stall>');
    await there.stream(taskId, { cutAfter: 3 });
    const drained = instance.drain();
    const chat = { id: newThread(), messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] };
    expect((await there.call('POST', '/chat', chat)).status).toBe(503);
    await there.call('DELETE', `/task/${taskId}`);
    await listening.ended;
    expect(listening.events.at(-1)?.data).toMatchObject({ type: 'run.ended', taskId, status: 'aborted' });
    await drained;
  });
});
