import { APICallError } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { streamFailure } from './resilientmodel.ts';

it.each([
  [{ message: 'slow', code: 429 }, 429],
  [{ message: 'slow', status: '503' }, 503],
  [{ message: 'slow', type: 'rate_limit_error', code: null }, 429],
  [{ type: 'server_error' }, 500],
])('the error %j of a stream has the status %i', (error, statusCode) => {
  const failure = streamFailure(error);
  expect([APICallError.isInstance(failure), failure]).toEqual([true, expect.objectContaining({ statusCode })]);
});

it.each([
  null,
  'slow',
  { code: 'constructor', type: '__proto__' },
  { code: { toString: 429 }, status: ['503'], type: 'unknown' },
  { code: 200, status: '5000' },
])('the error %j of a stream has none and stays as it is', (error) => {
  expect(streamFailure(error)).toBe(error);
});
