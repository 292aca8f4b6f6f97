import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mapConcurrently } from './mapconcurrently.ts';

test.each([
  ['nothing', 0, 3],
  ['fewer items than the limit', 2, 3],
  ['more', 10, 3],
])('%s: returns every result in order and respects the limit', async (_name, count, atOnce) => {
  let working = 0;
  let most = 0;
  const items = Array.from({ length: count }, (_, index) => index);
  const results = await mapConcurrently(items, atOnce, async (item) => {
    working += 1;
    most = Math.max(most, working);
    // Earlier items take longer, so that they finish out of order.
    await delay(10 - item);
    working -= 1;
    return item * 2;
  });
  expect(results).toEqual(items.map((item) => item * 2));
  expect(most).toBe(Math.min(count, atOnce));
});

test('throws the first failure and starts no further items', async () => {
  const begun: number[] = [];
  const working = mapConcurrently([1, 2, 3, 4, 5, 6], 2, async (item) => {
    begun.push(item);
    await delay(item);
    if (item === 2) throw new Error('no');
  });
  await expect(working).rejects.toThrow('no');
  await delay(30);
  expect(begun).toEqual(expect.arrayContaining([1, 2]));
  expect(begun).not.toContain(6);
});
