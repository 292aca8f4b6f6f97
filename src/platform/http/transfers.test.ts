import { expect, it } from 'vitest';
import { createTransfers, type Transfer } from './transfers.ts';

/** Moves as many bytes between two samples as its client can. `ended` is the reason why it was ended. */
function transfer(direction: Transfer['direction'], bytesPerSample: number, waits = false) {
  let moved = 0;
  const ended: string[] = [];
  const begun: Transfer = {
    direction,
    movedBytes: () => (moved += bytesPerSample),
    waitsForServer: () => waits,
    end: (reason) => ended.push(reason),
  };
  return { begun, ended };
}
const windowMs = 300;
const huge = 10 ** 9;
const until = (condition: () => boolean) => expect.poll(condition, { timeout: 10_000 }).toBe(true);

it('ends a transfer that is too slow, once, and no other', async () => {
  const transfers = createTransfers({ max: 10, windowMs });
  const [stalled, slow, fast, waiting] = [
    transfer('in', 0),
    transfer('out', 1),
    transfer('in', huge),
    transfer('out', 0, true),
  ];
  const stops = [stalled, slow, fast, waiting].map(({ begun }) => transfers.begin(begun));
  await until(() => stalled.ended.length > 0 && slow.ended.length > 0);
  expect([stalled.ended, slow.ended, fast.ended, waiting.ended]).toEqual([['slow'], ['slow'], [], []]);
  expect([transfers.count('in'), transfers.count('out')]).toEqual([1, 1]);
  for (const stop of stops) stop();
  expect([transfers.count('in'), transfers.count('out')]).toEqual([0, 0]);
});

it('evicts the slowest transfer if it is slow enough', async () => {
  const transfers = createTransfers({ max: 2, windowMs });
  // Between the minimum speed and the speed below which a transfer can be evicted.
  const perSample = (bytesPerSecond: number) => (bytesPerSecond * windowMs) / 6000;
  const [slow, fast] = [transfer('in', perSample(5000)), transfer('out', huge)];
  for (const { begun } of [slow, fast]) transfers.begin(begun);
  const next = transfer('in', huge);
  expect(() => transfers.begin(next.begun)).toThrow('overloaded');
  expect(transfers.endSlowest('out')).toBe(false);
  await until(() => {
    try {
      transfers.begin(next.begun);
      return true;
    } catch {
      return false;
    }
  });
  expect([slow.ended, fast.ended]).toEqual([['crowded'], []]);
  expect(() => transfers.begin(transfer('in', huge).begun)).toThrow('overloaded');
});
