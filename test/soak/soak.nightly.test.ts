import { describe, expect, it } from 'vitest';
import { whatIsMissing } from './engines.ts';
import { soak } from './soak.ts';

const skip = process.env.CI !== 'true' && whatIsMissing().length > 0;

describe.skipIf(skip)('a short soak', () => {
  it('breaks no promise in any of the faults', { timeout: 1_500_000 }, async () => {
    const book = await soak({ seconds: 20, faultEveryS: 3, print: () => undefined });
    expect(book.breaches).toEqual([]);
  });
});
