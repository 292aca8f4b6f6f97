import { describe, expect, it } from 'vitest';
import { EngineBusy } from './engine.ts';
import { type Claim, createPermits, type Permits } from './permits.ts';

const permits = (count: number, waitMs = 30_000) => createPermits({ count, waitMs });

it('grants as many as there are, then in the order of arrival', async () => {
  const two = permits(2);
  const [first, second] = [await two.acquire(), await two.acquire()];
  const order: string[] = [];
  const waiting = ['a', 'b', 'c'].map(async (name) => {
    const release = await two.acquire();
    order.push(name);
    return release;
  });
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  second();
  const releaseA = await waiting[0];
  expect(order).toEqual(['a']);
  first();
  await waiting[1];
  releaseA?.();
  await waiting[2];
  expect(order).toEqual(['a', 'b', 'c']);
});

it('refuses a request that waited too long, and continues with the next', async () => {
  const one = permits(1, 5);
  const release = await one.acquire();
  await expect(one.acquire()).rejects.toBeInstanceOf(EngineBusy);
  release();
  const again = await one.acquire();
  await expect(one.acquire()).rejects.toBeInstanceOf(EngineBusy);
  again();
  (await one.acquire())();
});

it('without any wait, still grants free permits', async () => {
  const one = permits(1, 0);
  const release = await one.acquire();
  await expect(one.acquire()).rejects.toBeInstanceOf(EngineBusy);
  release();
  (await one.acquire())();
});

/** Claims in the order in which they are given, each returned as soon as it is. */
async function orderOf(permits: Permits, held: () => void, claims: readonly (readonly [string, Claim])[]) {
  const order: string[] = [];
  const done = claims.map(async ([name, claim]) => {
    const release = await permits.acquire(claim);
    order.push(name);
    await new Promise(setImmediate);
    release();
  });
  held();
  await Promise.all(done);
  return order;
}
const of = (owner: string): Claim => ({ owner });

it('alternates between owners: one without a permit precedes the queue of one with a permit', async () => {
  const two = permits(2);
  const [first, second] = [await two.acquire(of('a')), await two.acquire(of('b'))];
  const order = await orderOf(two, first, [
    ['a1', of('a')],
    ['a2', of('a')],
    ['a3', of('a')],
    ['c1', of('c')],
    ['c2', of('c')],
    ['d1', of('d')],
  ]);
  second();
  expect(order).toEqual(['c1', 'd1', 'a1', 'c2', 'a2', 'a3']);
});

it('prefers an owner who holds none to one who holds a permit and had an earlier turn', async () => {
  const two = permits(2);
  const [first, second] = [await two.acquire(of('a')), await two.acquire(of('b'))];
  const order = await orderOf(two, second, [
    ['a1', of('a')],
    ['b1', of('b')],
  ]);
  first();
  expect(order).toEqual(['b1', 'a1']);
});

it('alternates between uploads and variants', async () => {
  const two = permits(2);
  const [first, second] = [await two.acquire(of('a')), await two.acquire(of('b'))];
  const order = await orderOf(two, first, [
    ['c', of('c')],
    ['d', of('d')],
    ['e', of('e')],
    ['upload', { owner: 'f', kind: 'upload' }],
    ['another', { owner: 'g', kind: 'upload' }],
  ]);
  second();
  expect(order).toEqual(['upload', 'c', 'another', 'd', 'e']);
});

it.each([1, 2, 4])('grants one more than %i if one owner has all and another waits', async (count) => {
  const some = permits(count, 5);
  const held = await Promise.all(Array.from({ length: count }, () => some.acquire(of('a'))));
  await expect(some.acquire(of('a'))).rejects.toBeInstanceOf(EngineBusy);
  const other = await some.acquire(of('b'));
  await expect(some.acquire(of('b'))).rejects.toBeInstanceOf(EngineBusy);
  await expect(some.acquire(of('c'))).rejects.toBeInstanceOf(EngineBusy);
  other();
  for (const release of held) release();
  const again = await Promise.all(Array.from({ length: count }, () => some.acquire(of('b'))));
  for (const release of again) release();
});

it('releases a permit once, even if it is returned repeatedly', async () => {
  const one = permits(1, 5);
  const release = await one.acquire(of('a'));
  release();
  release();
  await one.acquire(of('a'));
  await expect(one.acquire(of('a'))).rejects.toBeInstanceOf(EngineBusy);
});

describe('memory', () => {
  const limited = () => createPermits({ count: 8, waitMs: 30_000, memory: 120 });
  const sized = (bytes: number, owner = 'a'): Claim => ({ owner, bytes });
  const settled = () => new Promise(setImmediate);

  it('is never exceeded by claims that fit, and a larger one is alone', async () => {
    const permits = limited();
    const held: number[] = [];
    const seen: number[][] = [];
    const claims = [60, 50, 60, 500, 60].map(async (bytes, index) => {
      const release = await permits.acquire(sized(bytes, `owner ${index}`));
      held.push(bytes);
      seen.push([...held]);
      await settled();
      held.splice(held.indexOf(bytes), 1);
      release();
    });
    await Promise.all(claims);
    expect(seen).toEqual([[60], [60, 50], [50, 60], [500], [60]]);
  });

  it('is kept for a large claim whose turn it is, and its share for small ones', async () => {
    const permits = limited();
    const release = await permits.acquire(sized(100));
    const begun: string[] = [];
    const begin = async (name: string, bytes: number) => {
      const done = await permits.acquire(sized(bytes, name));
      begun.push(name);
      return done;
    };
    const large = begin('large', 90);
    const small = begin('small', 1);
    const other = begin('other', 20);
    await settled();
    expect(begun).toEqual(['small']);
    release();
    (await small)();
    (await large)();
    (await other)();
    expect(begun).toEqual(['small', 'large', 'other']);
  });

  it('is given to a claim of more than fits while small ones continue', async () => {
    const permits = limited();
    const first = await permits.acquire(sized(1, 'small'));
    const huge = await permits.acquire(sized(500, 'huge'));
    const second = await permits.acquire(sized(1, 'another'));
    for (const release of [first, huge, second]) release();
  });
});
