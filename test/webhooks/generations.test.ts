/** Each end of a generation is one webhook, whatever happens to the receiver and to the process (docs/specification/webhooks.md). */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { killAndRestart, openWorld, type World } from '../generation/money.fixture.ts';
import { order, type Person } from '../generation/program.fixture.ts';
import { everyNth, isNightly } from '../lane.fixture.ts';
import { startReceiver } from './receiver.fixture.ts';

const limitMs = 120_000;
const secret = `whsec_${randomBytes(32).toString('base64')}`;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let world: World;
let ada: Person;

beforeAll(async () => {
  receiver = await startReceiver(secret);
  world = await openWorld({
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: secret,
    WEBHOOK_EVENTS: 'generation.completed,generation.failed',
  });
  ada = await world.running.person('ada@example.com', 'pro', 1000);
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

interface End {
  readonly type: string;
  readonly data: { readonly generationId: string };
}

/** What arrived about a generation, each request with its event. `undefined`: its signature is wrong. */
const arrivedFor = (id: string) => receiver.received.filter(({ body }) => body.includes(id));
const endsOf = (id: string) => arrivedFor(id).map(({ event }) => event as End | undefined);
const idsOf = (id: string) => new Set(arrivedFor(id).map(({ headers }) => headers['webhook-id']));

/** The events of a generation after the end of a later one: nothing about it is on its way. */
async function settledEndsOf(id: string) {
  const { body } = await order(ada, '/images', { prompt: 'the last one', model: 'openai' });
  await expect.poll(() => arrivedFor(body.id).length, { timeout: limitMs }).toBe(1);
  return endsOf(id);
}

const start = async (path: '/images' | '/videos', body: object): Promise<string> => {
  const answer = await order(ada, path, body, {});
  expect(answer.status).toBe(202);
  return answer.body.id;
};
const ordersOf = (prompt: string) => world.makers.orders.filter((one) => one.prompt === prompt).length;

const orders = [
  ['/images', 'a lighthouse', { model: 'openai', n: 2 }, 'completed'],
  ['/videos', 'waves', { model: 'film' }, 'completed'],
  ['/images', 'a picture <refuse>', { model: 'openai' }, 'failed'],
  ['/videos', 'a film <fail>', { model: 'film' }, 'failed'],
] as const;

it.each(everyNth(orders, 3))(
  '%s of %s is one signed event',
  { timeout: 3 * limitMs },
  async (path, prompt, wanted, status) => {
    const { body } = await order(ada, path, { prompt, ...wanted });
    expect(body.status).toBe(status);
    const facts = { generationId: body.id, userId: ada.agent.userId, kind: path === '/images' ? 'image' : 'video' };
    const data = status === 'failed' ? { ...facts, status } : facts;
    await expect.poll(() => arrivedFor(body.id).length, { timeout: limitMs }).toBe(1);
    const end = { type: `generation.${status}`, timestamp: expect.any(String), data };
    expect(await settledEndsOf(body.id)).toEqual([end]);
  },
);

it('reports a canceled generation once', { timeout: 3 * limitMs }, async () => {
  const id = await start('/images', { prompt: 'canceled <hang>', model: 'openai', n: 2 });
  await expect.poll(() => ordersOf('canceled <hang>'), { timeout: limitMs }).toBe(2);
  expect((await ada.agent.call('DELETE', `/generations/${id}`)).status).toBe(204);
  expect((await ada.agent.call('DELETE', `/generations/${id}`)).status).toBe(204);
  world.makers.release();
  await expect.poll(() => arrivedFor(id).length, { timeout: limitMs }).toBe(1);
  expect(await settledEndsOf(id)).toMatchObject([{ type: 'generation.failed', data: { status: 'canceled' } }]);
});

it('sends the same event again to a receiver that failed, also from another process', {
  timeout: 4 * limitMs,
}, async () => {
  receiver.answerWith({ status: 503 });
  const { body } = await order(ada, '/images', { prompt: 'refused at first', model: 'fal' });
  await expect.poll(() => arrivedFor(body.id).length, { timeout: limitMs }).toBe(1);
  ada = await killAndRestart(world, ada);
  receiver.answerWith({ status: 204 });
  await expect.poll(() => arrivedFor(body.id).length, { timeout: limitMs }).toBeGreaterThan(1);
  expect(idsOf(body.id).size).toBe(1);
  const [first, ...more] = arrivedFor(body.id).map((request) => request.body);
  expect(more.every((again) => again === first)).toBe(true);
  const delivered = arrivedFor(body.id).length;
  expect(await settledEndsOf(body.id)).toHaveLength(delivered);
  expect(endsOf(body.id)).not.toContain(undefined);
});

const moments = [
  ['a receiver holds the request', '/images', { prompt: 'held', model: 'openai' }, 'completed'],
  ['the provider makes the image', '/images', { prompt: 'unfinished <hang>', model: 'openai' }, 'failed'],
  ['the provider makes the video', '/videos', { prompt: 'unfinished film <hang>', model: 'film' }, 'failed'],
  ['the order was accepted', '/videos', { prompt: 'a film that goes on', model: 'film' }, 'completed'],
] as const;

it.runIf(isNightly).each(moments)(
  'has one event if the process dies while %s',
  { timeout: 4 * limitMs },
  async (moment, path, body, status) => {
    if (moment === 'a receiver holds the request') receiver.answerWith('hang');
    const id = await start(path, body);
    await expect.poll(() => ordersOf(body.prompt), { timeout: limitMs }).toBe(1);
    if (moment === 'a receiver holds the request')
      await expect.poll(() => arrivedFor(id).length, { timeout: limitMs }).toBe(1);
    if (moment === 'the order was accepted')
      await expect
        .poll(() => world.makers.orders.find(({ prompt }) => prompt === body.prompt)?.isAsked, { timeout: limitMs })
        .toBe(true);
    ada = await killAndRestart(world, ada);
    receiver.answerWith({ status: 204 });
    const isEnded = async () => (await ada.agent.call<{ status: string }>('GET', `/generations/${id}`)).body.status;
    await expect.poll(isEnded, { timeout: limitMs }).not.toBe('running');
    const least = moment === 'a receiver holds the request' ? 2 : 1;
    await expect.poll(() => arrivedFor(id).length, { timeout: limitMs }).toBeGreaterThanOrEqual(least);
    for (const end of await settledEndsOf(id))
      expect(end).toMatchObject({ type: `generation.${status}`, data: { generationId: id } });
    expect([idsOf(id).size, ordersOf(body.prompt)]).toEqual([1, 1]);
  },
);
