import { describe, expect, it } from 'vitest';
import { countedSince, percentileOf } from './history.ts';

describe('counts since the last sample', () => {
  const reading = (process: number, requests: number) => ({ process, values: { requests, errors: 0 } });

  it.each([
    ['of the same process: the difference', reading(100.5, 3), reading(100.5, 8), { requests: 5, errors: 0 }],
    ['of the same process, without a request', reading(100.5, 3), reading(100.5, 3), { requests: 0, errors: 0 }],
    ['of a process that began since: everything', reading(100.5, 3), reading(250, 2), { requests: 2, errors: 0 }],
    ['of another process, which began earlier: unknown', reading(100.5, 3), reading(99, 8), undefined],
    ['of a service that was not read: unknown', undefined, reading(99, 8), undefined],
  ])('%s', (_title, earlier, later, expected) => {
    expect(countedSince(earlier, later, 200_000)).toEqual(expected);
  });
});

describe('a percentile', () => {
  it.each([
    ['without values', {}, 0.5, null],
    ['of zero values', { 'le 0.1': 0 }, 0.5, null],
    ['inside the first bucket', { 'le 0.1': 10, 'le 0.5': 10, 'le +Inf': 10 }, 0.5, 50],
    ['inside the second bucket', { 'le 0.1': 0, 'le 0.5': 10, 'le +Inf': 10 }, 0.5, 300],
    ['without the empty buckets', { 'le 0.5': 10, 'le +Inf': 10 }, 1, 500],
    ['above the last bound', { 'le 0.1': 1, 'le 60': 1, 'le +Inf': 10 }, 0.95, 60000],
    ['in the order of the bounds, not of the names', { 'le 10': 4, 'le 2.5': 2, 'le +Inf': 4 }, 0.5, 2500],
  ])('%s', (_title, counts, share, expected) => {
    expect(percentileOf(counts, share)).toBe(expected);
  });

  it('uses only the buckets of its own histogram', () => {
    expect(percentileOf({ 'le 0.1': 5, 'first le 4': 2, 'first le +Inf': 2 }, 1, 'first le ')).toBe(4000);
  });
});
