/** The process that makes videos is killed while it orders one, polls for another and downloads a third. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offlineVideos } from '#local/renderer/renderer.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { type Provider, startProvider } from './provider.fixture.ts';
import { newThread } from './rig.fixture.ts';
import { calling, json } from './scripted.fixture.ts';

const patience = { timeout: 90_000 };
const credits = 1000;

describe.skipIf(skipWithoutFleet)('videos of a process that is killed', () => {
  let fleet: Fleet;
  let provider: Provider;
  beforeAll(async () => {
    [fleet, provider] = await Promise.all([openFleet(), startProvider()]);
  });
  afterAll(async () => {
    await fleet.close();
    provider.close();
  });

  it('are ordered once, and each is delivered and charged, or free', { timeout: 180_000 }, async () => {
    const order = { prompt: 'a clip', ratio: '16:9', signal: new AbortController().signal };
    const content = { answer: { type: 'video/mp4', body: Buffer.from((await offlineVideos.download(order)).bytes) } };
    const others = await fleet.start({ services: ['media', 'edge', 'memory'] });
    const portOf = (offset: number) => `http://127.0.0.1:${others.portBase + offset}`;
    const env = {
      MEDIA_URL: portOf(1),
      MEMORY_URL: portOf(5),
      EDGE_URL: portOf(10),
      MODEL_BASE_URL: provider.url,
      MODEL_NAME: 'a-model',
      VIDEO_MODEL_BASE_URL: provider.url,
      VIDEO_MODEL_NAME: 'a-maker',
    };
    const victim = await fleet.start({ env });
    const anywhere = await fleet.user(credits);
    const user = anywhere(victim);

    const [ordered, polled, downloaded] = Array.from({ length: 3 }, () => `v${randomUUID()}`) as [
      string,
      string,
      string,
    ];
    provider.on(`clip ${ordered}`, { hang: true });
    provider.on(`clip ${polled}`, json({ id: polled, status: 'queued' }));
    provider.on(`/videos/${polled} `, json({ id: polled, status: 'in_progress' }));
    provider.on(`clip ${downloaded}`, json({ id: downloaded, status: 'queued' }));
    provider.on(`/videos/${downloaded}/content`, { answer: { ...content.answer, stall: true } });
    provider.on(`/videos/${downloaded} `, json({ id: downloaded, status: 'completed' }));
    const threads = new Map<string, string>();
    for (const id of [ordered, polled, downloaded]) {
      provider.on(`<${id}>`, ...calling('generateVideo', { prompt: `clip ${id}` }));
      threads.set(id, newThread());
      await user.ask(String(threads.get(id)), `<${id}>`);
    }
    const wasCalled = (text: string) =>
      provider.requests.some(({ path, body }) => `${path} ${JSON.stringify(body)}`.includes(text));
    const isUnderWay = () =>
      wasCalled(`"clip ${ordered}"`) && wasCalled(`/videos/${polled}`) && wasCalled(`/videos/${downloaded}/content`);
    await expect.poll(isUnderWay, patience).toBe(true);
    await victim.kill();

    provider.on(`clip ${ordered}`, json({ id: ordered, status: 'queued' }));
    provider.on(`/videos/${polled}/content`, content);
    provider.on(`/videos/${polled} `, json({ id: polled, status: 'completed' }));
    provider.on(`/videos/${downloaded}/content`, content);
    const successor = anywhere(await fleet.start({ env }));
    const stateOf = async (id: string) => {
      const parts = (await successor.messages(String(threads.get(id)))).flatMap((message) => message.parts);
      const [data] = parts.flatMap((part) => (part.type === 'data-video' ? [Object(part.data)] : []));
      return [data?.status, data?.failure?.code];
    };
    const states = () => Promise.all([ordered, polled, downloaded].map(stateOf));
    await expect.poll(states, patience).toEqual([
      ['failed', 'provider_failed'],
      ['completed', undefined],
      ['completed', undefined],
    ]);
    for (const id of [ordered, polled, downloaded]) {
      const orders = provider.requests.filter(
        ({ path, body }) => path === '/v1/videos' && Reflect.get(Object(body), 'prompt') === `clip ${id}`,
      );
      expect(orders).toHaveLength(1);
    }
    // The runs went on, and were paid once.
    await expect.poll(() => fleet.ledger(user), patience).toEqual({ balance: credits - 83, reserved: 0, settled: 83 });
    const { body } = await successor.call<{ days: { videos: number; credits: number }[] }>('GET', '/usage');
    expect(body.days.reduce((sum, { videos }) => sum + videos, 0)).toBe(2);
    expect(body.days.reduce((sum, day) => sum + day.credits, 0)).toBe(83);
  });
});
