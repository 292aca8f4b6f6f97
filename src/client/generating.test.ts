/** `atelier.images.generate` against the service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentRig, type Chatter, startAgent } from '../../test/agent/rig.fixture.ts';
import { makeImage } from '../../test/media/images.fixture.ts';
import { embedded } from '../../test/media/rig.fixture.ts';
import { createAtelier, type Generation } from './atelier.ts';

let rig: AgentRig;
let count = 0;
let released = Promise.withResolvers<void>();
const make = async ({ prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal }) => {
  count += 1;
  const seed = count;
  if (prompt.includes('later') && seed % 2 === 0) await Promise.race([released.promise, aborted(signal)]);
  return { bytes: await makeImage('png', { seed }), mime: 'image/png' };
};
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

beforeAll(async () => {
  rig = await startAgent(embedded, { imageGenerator: { generate: make, edit: make } });
});
afterAll(() => rig.close());

const clientOf = (user: Chatter, fetch = globalThis.fetch) =>
  createAtelier({
    urls: { agent: rig.url },
    credential: { accessToken: () => String(user.credential.authorization).replace('Bearer ', '') },
    fetch,
  });

it('orders images, and reports each that is delivered', async () => {
  const user = await rig.user('pro', 100);
  const seen: number[] = [];
  const onProgress = ({ items }: Generation) => {
    seen.push(items.filter(({ status }) => status === 'completed').length);
    if (seen.at(-1) === 1) released.resolve();
  };
  const { status, items } = await clientOf(user).images.generate({ prompt: 'one later', n: 2 }, { onProgress });
  expect([status, items.map((item) => item.status), seen.at(-1)]).toEqual(['completed', ['completed', 'completed'], 2]);
  expect(seen).toContain(1);
  expect(await rig.credits(user)).toBe(96);
});

it('cancels the order if the signal is aborted, and keeps what was delivered', async () => {
  released = Promise.withResolvers();
  const user = await rig.user('pro', 100);
  const stopping = new AbortController();
  const onProgress = ({ items }: Generation) => {
    if (items.some(({ status }) => status === 'completed')) stopping.abort(new Error('never mind'));
  };
  const order = clientOf(user).images.generate({ prompt: 'one later', n: 2 }, { onProgress, signal: stopping.signal });
  await expect(order).rejects.toThrow('never mind');
  const { generations } = await clientOf(user).agent.listGenerations();
  expect(generations[0]?.items.map(({ status }) => status).sort()).toEqual(['canceled', 'completed']);
  expect(await rig.credits(user)).toBe(98);
});

it('orders once if the response is lost', async () => {
  const user = await rig.user('pro', 100);
  let lost = 0;
  const shaky: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method !== 'POST' || lost > 0) return response;
    lost += 1;
    throw new TypeError('the connection broke');
  };
  const { status } = await clientOf(user, shaky).images.generate({ prompt: 'once' });
  expect([status, lost, await rig.credits(user)]).toEqual(['completed', 1, 98]);
});

it('throws what the service refuses, and films images', async () => {
  const user = await rig.user('free', 1);
  await expect(clientOf(user).images.generate({ prompt: 'x' })).rejects.toMatchObject({ code: 'insufficient_credits' });
  await expect(clientOf(user).videos.generate({ prompt: 'x' })).rejects.toMatchObject({ code: 'insufficient_plan' });
});
