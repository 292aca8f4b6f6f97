import { expect, it } from 'vitest';
import { EngineBusy } from './engine.ts';
import { createPermits } from './permits.ts';

const permits = (count: number, waitMs = 30_000) => createPermits({ count, waitMs });

it('gives as many as there are, then in the order of arrival', async () => {
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

it('refuses who waited too long, and goes on with the next', async () => {
  const one = permits(1, 5);
  const release = await one.acquire();
  await expect(one.acquire()).rejects.toBeInstanceOf(EngineBusy);
  release();
  const again = await one.acquire();
  await expect(one.acquire()).rejects.toBeInstanceOf(EngineBusy);
  again();
  (await one.acquire())();
});

it('with no wait at all, still gives what is free', async () => {
  const one = permits(1, 0);
  const release = await one.acquire();
  await expect(one.acquire()).rejects.toBeInstanceOf(EngineBusy);
  release();
  (await one.acquire())();
});
