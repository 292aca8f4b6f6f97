import { beforeEach, describe, expect, test } from 'vitest';
import { type Breaker, BreakerOpen, createBreaker } from './breaker.ts';

let nowMs = 0;
let breaker: Breaker;
let calls: number;

const down = new Error('down');
const notFound = new Error('not found');
const callerLeft = new Error('the caller left');

function call(error?: Error) {
  return breaker.run(async () => {
    calls += 1;
    if (error !== undefined) throw error;
    return 'done';
  });
}

async function failTimes(count: number) {
  for (let failure = 0; failure < count; failure++) await expect(call(down)).rejects.toBe(down);
}

beforeEach(() => {
  nowMs = 1_000_000;
  calls = 0;
  breaker = createBreaker({
    failuresToOpen: 3,
    trialEveryMs: 2000,
    isFailure: (error) => error === down,
    isNeutral: (error) => error === callerLeft,
    clock: { now: () => nowMs },
  });
});

describe('a breaker', () => {
  test('opens after consecutive failures, and then does not do the work', async () => {
    await failTimes(3);
    const refused = await call().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BreakerOpen);
    expect((refused as Error).cause).toBe(down);
    expect(calls).toBe(3);
  });

  test('restarts the count after a success or any other response', async () => {
    await failTimes(2);
    await call();
    await failTimes(2);
    await expect(call(notFound)).rejects.toBe(notFound);
    await failTimes(2);
    await expect(call()).resolves.toBe('done');
  });

  test('allows one trial per interval, even while an earlier trial hangs, and closes on success', async () => {
    await failTimes(3);
    nowMs += 2000;
    const { promise: hanging, resolve } = Promise.withResolvers<string>();
    const trial = breaker.run(() => hanging);
    await expect(call()).rejects.toBeInstanceOf(BreakerOpen);
    nowMs += 2000;
    await expect(call()).resolves.toBe('done');
    await expect(call()).resolves.toBe('done');
    resolve('late');
    await expect(trial).resolves.toBe('late');
  });

  test('stays open after a failed trial', async () => {
    await failTimes(3);
    nowMs += 2000;
    await failTimes(1);
    nowMs += 1999;
    await expect(call()).rejects.toBeInstanceOf(BreakerOpen);
    nowMs += 1;
    await expect(call()).resolves.toBe('done');
  });

  test('does not open on a burst of failures, but on failures that last', async () => {
    breaker = createBreaker({
      failuresToOpen: 3,
      failingForMs: 1000,
      trialEveryMs: 2000,
      isFailure: () => true,
      clock: { now: () => nowMs },
    });
    await failTimes(50);
    await expect(call()).resolves.toBe('done');
    await failTimes(50);
    nowMs += 999;
    await failTimes(1);
    nowMs += 1;
    await failTimes(1);
    await expect(call()).rejects.toBeInstanceOf(BreakerOpen);
  });

  test('ignores callers that give up', async () => {
    await failTimes(2);
    await expect(call(callerLeft)).rejects.toBe(callerLeft);
    await failTimes(1);
    await expect(call()).rejects.toBeInstanceOf(BreakerOpen);
  });
});
