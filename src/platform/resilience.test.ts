import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Breaker,
  BreakerOpen,
  createBreaker,
  DeadlineExceeded,
  type RetryOptions,
  retry,
  retryWhileChanging,
  startIdleDeadline,
  withDeadline,
} from './resilience.ts';

const never = () => new Promise<never>(() => undefined);

describe('a deadline', () => {
  test('returns results that arrive in time, and clears its timer', async () => {
    vi.useFakeTimers();
    try {
      await expect(withDeadline(1000, async () => 'done')).resolves.toBe('done');
      await expect(withDeadline(1000, () => Promise.reject(new Error('own')))).rejects.toThrow('own');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('rejects and aborts the signal when the time is up, even if the work ignores it', async () => {
    let seen: AbortSignal | undefined;
    const late = withDeadline(5, (signal) => {
      seen = signal;
      return never();
    });
    await expect(late).rejects.toBeInstanceOf(DeadlineExceeded);
    expect(seen?.reason).toBeInstanceOf(DeadlineExceeded);
  });

  test('rejects with the reason of the outer signal, before and during the work', async () => {
    const reason = new Error('the caller left');
    await expect(withDeadline(1000, never, AbortSignal.abort(reason))).rejects.toBe(reason);
    const outer = new AbortController();
    const running = withDeadline(1000, never, outer.signal);
    outer.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  test('handles a late rejection of the work', async () => {
    const work = Promise.withResolvers<never>();
    await expect(withDeadline(5, () => work.promise)).rejects.toBeInstanceOf(DeadlineExceeded);
    work.reject(new Error('too late to matter'));
    // Node reports unhandled rejections after the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
  });
});

test('an idle deadline restarts on progress and stops during a pause', async () => {
  vi.useFakeTimers();
  try {
    const deadline = startIdleDeadline(1000);
    const outcome = deadline.race(never()).catch((error: unknown) => error);
    for (let step = 0; step < 5; step++) {
      vi.advanceTimersByTime(900);
      deadline.touch();
    }
    deadline.pause();
    vi.advanceTimersByTime(60_000);
    expect(deadline.signal.aborted).toBe(false);
    deadline.touch();
    vi.advanceTimersByTime(999);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.aborted).toBe(true);
    expect(await outcome).toBeInstanceOf(DeadlineExceeded);
    deadline.stop();
    deadline.touch();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

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

const options: RetryOptions = { attempts: 3, baseDelayMs: 1, maxDelayMs: 2, isRetryable: () => true };

/** Fails the first `failures` times. */
function flaky(failures: number) {
  const tried: number[] = [];
  const work = async (attempt: number) => {
    tried.push(attempt);
    if (attempt <= failures) throw new Error(`failure ${attempt}`);
    return 'done';
  };
  return { tried, work };
}

describe('retry', () => {
  test('continues until it succeeds', async () => {
    const { tried, work } = flaky(2);
    await expect(retry(work, options)).resolves.toBe('done');
    expect(tried).toEqual([1, 2, 3]);
  });

  test('gives up after the last attempt, with its error', async () => {
    const { tried, work } = flaky(9);
    await expect(retry(work, options)).rejects.toThrow('failure 3');
    expect(tried).toEqual([1, 2, 3]);
  });

  test('does not retry errors that a retry cannot resolve', async () => {
    const { tried, work } = flaky(9);
    await expect(retry(work, { ...options, isRetryable: () => false })).rejects.toThrow('failure 1');
    expect(tried).toEqual([1]);
  });

  test('stops waiting on an abort, and makes no further attempt', async () => {
    const { tried, work } = flaky(9);
    const controller = new AbortController();
    const waiting = retry(work, { ...options, baseDelayMs: 60_000, maxDelayMs: 60_000, signal: controller.signal });
    setImmediate(() => controller.abort(new Error('the caller left')));
    await expect(waiting).rejects.toThrow('failure 1');
    expect(tried).toEqual([1]);
    await expect(retry(work, { ...options, signal: AbortSignal.abort() })).rejects.toThrow('failure 1');
    expect(tried).toEqual([1, 1]);
  });
});

const exhausted = () => new Error('it keeps changing');

/** Resolves with each of `results` in turn, then with `undefined`; an error is thrown. */
function attempts(results: readonly unknown[]) {
  const left = [...results];
  return async () => {
    const result = left.shift();
    if (result instanceof Error) throw result;
    return result;
  };
}

describe('optimistic retry', () => {
  test('resolves with the first result', async () => {
    expect(await retryWhileChanging(attempts([undefined, undefined, 'done', 'late']), exhausted)).toBe('done');
  });

  test.each([0, false, null, ''])('%j is a result', async (result) => {
    expect(await retryWhileChanging(attempts([result, 'late']), exhausted)).toBe(result);
  });

  test('gives up if the value changes at each attempt', async () => {
    await expect(retryWhileChanging(attempts([]), exhausted)).rejects.toThrow('it keeps changing');
  });

  test('gives up without a pause after the last attempt', async () => {
    const steps: string[] = [];
    const attempt = async () => {
      steps.push('attempt');
      // A pause, however short, lets this run first.
      setImmediate(() => steps.push('pause'));
      return undefined;
    };
    const giveUp = () => {
      steps.push('end');
      return exhausted();
    };
    await expect(retryWhileChanging(attempt, giveUp)).rejects.toThrow('it keeps changing');
    const [last, end] = steps.slice(-2);
    expect([last, end]).toEqual(['attempt', 'end']);
  });

  test('an error ends it immediately', async () => {
    const failing = attempts([undefined, new Error('the store is down'), 'late']);
    await expect(retryWhileChanging(failing, exhausted)).rejects.toThrow('the store is down');
  });
});
