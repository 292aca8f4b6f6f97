import { beforeEach, describe, expect, it } from 'vitest';
import { limitRate, type RateLimit } from './access.ts';

let nowMs: number;
let limit: RateLimit;
beforeEach(() => {
  nowMs = 1_000_000;
  limit = limitRate(6, { now: () => nowMs });
});

const limited = (retryAfterS: number) =>
  expect.objectContaining({ code: 'rate_limited', status: 429, details: expect.objectContaining({ retryAfterS }) });
const call = (subject: string, times = 1) => {
  for (let count = 0; count < times; count += 1) limit(subject);
};

describe('a limit of six calls per minute', () => {
  it('allows six calls at once and rejects the seventh', () => {
    call('a', 6);
    expect(() => limit('a')).toThrow(limited(10));
  });

  it('counts each subject separately', () => {
    call('a', 6);
    call('b', 6);
  });

  it('allows one call after another, as Retry-After announces', () => {
    call('a', 6);
    nowMs += 9999;
    expect(() => limit('a')).toThrow(limited(1));
    nowMs += 1;
    call('a');
    expect(() => limit('a')).toThrow(limited(10));
  });

  it('does not accumulate beyond the limit', () => {
    call('a', 6);
    nowMs += 3_600_000;
    call('a', 6);
    expect(() => limit('a')).toThrow(limited(10));
  });

  it('does not count a rejected call', () => {
    call('a', 6);
    for (let count = 0; count < 100; count += 1) expect(() => limit('a')).toThrow();
    nowMs += 10_000;
    call('a');
  });
});

it('does not limit at 0', () => {
  limit = limitRate(0, { now: () => nowMs });
  call('a', 10_000);
});
