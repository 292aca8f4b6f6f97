import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { judgeConditions, type Verdict } from './sending.ts';

const head = { size: 1, etag: '"a-1"', modifiedAt: new Date('2026-01-02T03:04:05.678Z') };
const then = 'Fri, 02 Jan 2026 03:04:05 GMT';
const before = 'Fri, 02 Jan 2026 03:04:04 GMT';

describe('conditions', () => {
  it.each<[IncomingHttpHeaders, Verdict]>([
    [{}, 'perform'],
    [{ 'if-none-match': '"a-1"' }, 'not_modified'],
    [{ 'if-none-match': 'W/"a-1"' }, 'not_modified'],
    [{ 'if-none-match': '"x", "a-1"' }, 'not_modified'],
    [{ 'if-none-match': '*' }, 'not_modified'],
    [{ 'if-none-match': '"x"' }, 'perform'],
    [{ 'if-none-match': 'a-1' }, 'perform'],
    [{ 'if-modified-since': then }, 'not_modified'],
    [{ 'if-modified-since': before }, 'perform'],
    [{ 'if-modified-since': 'nonsense' }, 'perform'],
    [{ 'if-none-match': '"x"', 'if-modified-since': then }, 'perform'],
    [{ 'if-match': '"a-1"' }, 'perform'],
    [{ 'if-match': '*' }, 'perform'],
    [{ 'if-match': 'W/"a-1"' }, 'failed'],
    [{ 'if-match': '"x"' }, 'failed'],
    [{ 'if-match': '"x"', 'if-none-match': '"a-1"' }, 'failed'],
    [{ 'if-unmodified-since': then }, 'perform'],
    [{ 'if-unmodified-since': before }, 'failed'],
    [{ 'if-match': '"a-1"', 'if-unmodified-since': before }, 'perform'],
  ])('%o', (headers, verdict) => {
    expect(judgeConditions(headers, head)).toBe(verdict);
  });
});
