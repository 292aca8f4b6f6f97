import { describe, expect, it } from 'vitest';
import { isRetryableStatus, parseRetryAfter, waitBeforeRetry } from './retrying.ts';

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['2', 2000],
    ['1.5', 1500],
    [' 30 ', 30_000],
    ['', undefined],
    ['soon', undefined],
    [undefined, undefined],
    [null, undefined],
  ])('%j is %j ms', (header, expected) => {
    expect(parseRetryAfter(header)).toBe(expected);
  });

  it('may be a date', () => {
    const inMs = parseRetryAfter(new Date(Date.now() + 10_000).toUTCString()) ?? Number.NaN;
    expect(inMs).toBeGreaterThan(8000);
    expect(inMs).toBeLessThanOrEqual(10_000);
    expect(parseRetryAfter('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0);
  });

  it('ends the retries if it exceeds 30 s', async () => {
    // The signal ends a wait that must not begin.
    expect(await waitBeforeRetry(1, '30.001', AbortSignal.abort())).toBe(false);
    expect(await waitBeforeRetry(1, '0', undefined)).toBe(true);
  });

  it('of up to 30 s is honored, unless the signal ends the wait', async () => {
    const reason = new Error('stopped');
    await expect(waitBeforeRetry(1, '30', AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

it.each([
  [200, false],
  [400, false],
  [401, false],
  [408, true],
  [429, true],
  [500, true],
  [503, true],
  [529, true],
])('%i: tried again %j', (status, expected) => {
  expect(isRetryableStatus(status)).toBe(expected);
});
