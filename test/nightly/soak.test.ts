import { describe, expect, it } from 'vitest';
import { whatIsMissing } from '../soak/engines.ts';
import { soak } from '../soak/soak.ts';

const skip = process.env.CI !== 'true' && whatIsMissing().length > 0;

describe.skipIf(skip)('a short soak', () => {
  it('keeps every promise through each fault once', { timeout: 600_000 }, async () => {
    const book = await soak({ seconds: 20, faultEveryS: 3, tell: () => undefined });
    expect(book.breaches).toEqual([]);
  });
});
