import { describe, expect, it } from 'vitest';
import { parseRange, rangeStillApplies } from './sending.ts';

describe('a range', () => {
  it.each<[string | undefined, number, ReturnType<typeof parseRange>]>([
    [undefined, 10, 'whole'],
    ['bytes=0-1', 10, { start: 0, end: 1 }],
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['bytes=9-9', 10, { start: 9, end: 9 }],
    ['bytes=3-', 10, { start: 3, end: 9 }],
    ['bytes=-3', 10, { start: 7, end: 9 }],
    ['bytes=-10', 10, { start: 0, end: 9 }],
    ['bytes=-11', 10, { start: 0, end: 9 }],
    ['bytes=0-9', 10, { start: 0, end: 9 }],
    ['bytes=0-10', 10, { start: 0, end: 9 }],
    ['bytes=0-99999999999999999999999999', 10, { start: 0, end: 9 }],
    ['Bytes= 1-2 ', 10, { start: 1, end: 2 }],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=10-12', 10, 'unsatisfiable'],
    ['bytes=99999999999999999999999999-', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-5', 0, 'unsatisfiable'],
    ['bytes=2-1', 10, 'whole'],
    ['bytes=-', 10, 'whole'],
    ['bytes=', 10, 'whole'],
    ['bytes=a-b', 10, 'whole'],
    ['bytes=1.5-2', 10, 'whole'],
    ['bytes=--1', 10, 'whole'],
    ['bytes=0-1,3-4', 10, 'whole'],
    ['rows=0-1', 10, 'whole'],
    ['0-1', 10, 'whole'],
  ])('%s of %i bytes', (header, size, expected) => {
    expect(parseRange(header, size)).toEqual(expected);
  });
});

describe('If-Range', () => {
  const head = { size: 1, etag: '"a-1"', modifiedAt: new Date('2026-01-02T03:04:05.678Z') };

  it.each([
    [undefined, true],
    ['"a-1"', true],
    ['"a-2"', false],
    ['W/"a-1"', false],
    ['Fri, 02 Jan 2026 03:04:05 GMT', true],
    ['Fri, 02 Jan 2026 03:04:06 GMT', false],
    ['nonsense', false],
  ])('%s', (header, applies) => {
    expect(rangeStillApplies(header, head)).toBe(applies);
  });
});
