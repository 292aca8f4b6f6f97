/** The same tests run on the memory store and on both databases. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { databaseEngines } from '../../test/database.fixture.ts';
import { createMemoryRefreshResults, databaseRefreshResults, type RefreshResults } from './refreshresults.ts';

const kinds = [
  {
    name: 'memory',
    missing: false,
    open: async () => ({ refreshResults: createMemoryRefreshResults(), close: async () => undefined }),
  },
  ...databaseEngines.map(({ name, missing, open }) => ({
    name,
    missing,
    open: async () => {
      const database = await open(migrations);
      return { refreshResults: databaseRefreshResults(database), close: () => database.close() };
    },
  })),
];

it('in memory, refreshes do not evict a sign-out', async () => {
  const refreshResults = createMemoryRefreshResults();
  const hash = randomBytes(32);
  await refreshResults.markRevoked(hash, randomUUID(), 60_000);
  for (let count = 0; count <= 20_000; count++) await refreshResults.claim(randomBytes(32), '', 60_000);
  expect(await refreshResults.find(hash)).toMatchObject({ outcome: 'signed_out' });
  expect(await refreshResults.claim(hash, randomUUID(), 60_000)).toBe(false);
});

describe.each(kinds)('refresh results in $name', (kind) => {
  describe.skipIf(kind.missing)('', () => {
    let refreshResults: RefreshResults;
    let close: () => Promise<unknown>;
    beforeAll(async () => {
      ({ refreshResults, close } = await kind.open());
    });
    afterAll(() => close());
    const token = () => randomBytes(32);
    const ok = { outcome: 'ok', sealed: 'a sealed result' } as const;
    const claimAndSettle = async (
      hash: Buffer,
      settled: Parameters<RefreshResults['settle']>[2] = ok,
      ttlMs = 60_000,
    ) => {
      const attempt = randomUUID();
      expect(await refreshResults.claim(hash, attempt, 60_000)).toBe(true);
      await refreshResults.settle(hash, attempt, settled, ttlMs);
    };

    it('grants one of many claims', async () => {
      const hash = token();
      const claims = await Promise.all(
        Array.from({ length: 10 }, () => refreshResults.claim(hash, randomUUID(), 60_000)),
      );
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await refreshResults.find(hash)).toMatchObject({ outcome: null, sealed: null });
      expect(await refreshResults.find(token())).toBeUndefined();
    });

    it('finds a result, and does not claim its token again', async () => {
      const hash = token();
      await claimAndSettle(hash);
      expect(await refreshResults.find(hash)).toMatchObject(ok);
      expect(await refreshResults.claim(hash, randomUUID(), 60_000)).toBe(false);
    });

    it.each(['expired', 'unavailable'] as const)(
      'returns %s to waiting callers, and allows a new attempt',
      async (outcome) => {
        const hash = token();
        await claimAndSettle(hash, { outcome });
        expect(await refreshResults.find(hash)).toMatchObject({ outcome });
        expect(await refreshResults.claim(hash, randomUUID(), 60_000)).toBe(true);
        expect(await refreshResults.find(hash)).toMatchObject({ outcome: null });
      },
    );

    it('does not store a result with a time of 0', async () => {
      const hash = token();
      await claimAndSettle(hash, ok, 0);
      expect(await refreshResults.find(hash)).toBeUndefined();
      expect(await refreshResults.claim(hash, randomUUID(), 60_000)).toBe(true);
    });

    it('drops a result that arrives after its claim expired', async () => {
      const [hash, late] = [token(), randomUUID()];
      await refreshResults.claim(hash, late, 1);
      await expect.poll(() => refreshResults.claim(hash, randomUUID(), 60_000)).toBe(true);
      await refreshResults.settle(hash, late, ok, 60_000);
      expect(await refreshResults.find(hash)).toMatchObject({ outcome: null });
    });

    it('deletes results by token, by successor and by user on logout, and no others', async () => {
      const [first, second, third, unrelated] = [token(), token(), token(), token()];
      const [subject, other] = [token(), token()];
      await claimAndSettle(first, { ...ok, successorHash: second, subjectHash: subject });
      await claimAndSettle(second, { ...ok, successorHash: third, subjectHash: subject });
      await claimAndSettle(unrelated, { ...ok, successorHash: token(), subjectHash: other });
      await refreshResults.drop(third, undefined);
      expect(await refreshResults.find(second)).toBeUndefined();
      expect(await refreshResults.find(first)).toBeUndefined();
      expect(await refreshResults.find(unrelated)).toMatchObject(ok);
      await refreshResults.drop(token(), other);
      expect(await refreshResults.find(unrelated)).toBeUndefined();
    });

    it('without a user, leaves results without a user unchanged', async () => {
      const [one, another] = [token(), token()];
      await claimAndSettle(one);
      await claimAndSettle(another);
      await refreshResults.drop(one, undefined);
      expect([await refreshResults.find(one), await refreshResults.find(another)]).toEqual([
        undefined,
        expect.objectContaining(ok),
      ]);
    });

    it('rejects a revoked token after a logout, until a sign-in issues it', async () => {
      const hash = token();
      const attempt = randomUUID();
      await refreshResults.claim(hash, attempt, 60_000);
      await refreshResults.markRevoked(hash, randomUUID(), 60_000);
      await refreshResults.settle(hash, attempt, ok, 60_000);
      await refreshResults.drop(hash, undefined);
      await refreshResults.sweep({ aborted: false });
      expect(await refreshResults.find(hash)).toMatchObject({ outcome: 'signed_out' });
      expect(await refreshResults.claim(hash, randomUUID(), 60_000)).toBe(false);
      await refreshResults.forget(hash);
      expect(await refreshResults.claim(hash, randomUUID(), 60_000)).toBe(true);
    });
  });
});
