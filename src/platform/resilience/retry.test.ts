import { describe, expect, test } from 'vitest';
import { type RetryOptions, retry } from './retry.ts';

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
