import { describe, expect, test } from 'vitest';
import { retryWhileChanging } from './retry.ts';

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
