import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mapConcurrently } from './mapconcurrently.ts';

test.each([
  ['nothing', 0, 3],
  ['fewer than may be at once', 2, 3],
  ['more', 10, 3],
])('%s: every result in its place, no more at once than told', async (_name, count, atOnce) => {
  let working = 0;
  let most = 0;
  const items = Array.from({ length: count }, (_, index) => index);
  const results = await mapConcurrently(items, atOnce, async (item) => {
    working += 1;
    most = Math.max(most, working);
    // The first ones take longest.
    await delay(10 - item);
    working -= 1;
    return item * 2;
  });
  expect(results).toEqual(items.map((item) => item * 2));
  expect(most).toBe(Math.min(count, atOnce));
});

test('the first failure is thrown, and what has not begun stays undone', async () => {
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
