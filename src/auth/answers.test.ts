/** One promise, kept in memory and in both databases. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { databaseEngines } from '../../test/database.fixture.ts';
import { type Answers, databaseAnswers } from './answers.ts';
import { createMemoryAnswers } from './memoryanswers.ts';

const kinds = [
  {
    name: 'memory',
    missing: false,
    open: async () => ({ answers: createMemoryAnswers(), close: async () => undefined }),
  },
  ...databaseEngines.map(({ name, missing, open }) => ({
    name,
    missing,
    open: async () => {
      const database = await open(migrations);
      return { answers: databaseAnswers(database), close: () => database.close() };
    },
  })),
];

describe.each(kinds)('answers kept in $name', (kind) => {
  describe.skipIf(kind.missing)('', () => {
    let answers: Answers;
    let close: () => Promise<unknown>;
    beforeAll(async () => {
      ({ answers, close } = await kind.open());
    });
    afterAll(() => close());
    const token = () => randomBytes(32);
    const ok = { outcome: 'ok', sealed: 'an answer' } as const;
    const asked = async (hash: Buffer, settled: Parameters<Answers['settle']>[2] = ok, keptMs = 60_000) => {
      const attempt = randomUUID();
      expect(await answers.claim(hash, attempt, 60_000)).toBe(true);
      await answers.settle(hash, attempt, settled, keptMs);
    };

    it('one of many claims is granted', async () => {
      const hash = token();
      const claims = await Promise.all(Array.from({ length: 10 }, () => answers.claim(hash, randomUUID(), 60_000)));
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await answers.find(hash)).toMatchObject({ outcome: null, sealed: null });
      expect(await answers.find(token())).toBeUndefined();
    });

    it('an answer is found, and its token not claimed again', async () => {
      const hash = token();
      await asked(hash);
      expect(await answers.find(hash)).toMatchObject(ok);
      expect(await answers.claim(hash, randomUUID(), 60_000)).toBe(false);
    });

    it.each(['expired', 'unavailable'] as const)(
      '%s is told to those that wait, and may be tried anew',
      async (outcome) => {
        const hash = token();
        await asked(hash, { outcome });
        expect(await answers.find(hash)).toMatchObject({ outcome });
        expect(await answers.claim(hash, randomUUID(), 60_000)).toBe(true);
        expect(await answers.find(hash)).toMatchObject({ outcome: null });
      },
    );

    it('what is kept for no time is gone', async () => {
      const hash = token();
      await asked(hash, ok, 0);
      expect(await answers.find(hash)).toBeUndefined();
      expect(await answers.claim(hash, randomUUID(), 60_000)).toBe(true);
    });

    it('a claim runs out, and its answer comes too late', async () => {
      const [hash, late] = [token(), randomUUID()];
      await answers.claim(hash, late, 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await answers.claim(hash, randomUUID(), 60_000)).toBe(true);
      await answers.settle(hash, late, ok, 60_000);
      expect(await answers.find(hash)).toMatchObject({ outcome: null });
    });

    it('a logout finds what was kept by token, by successor and by user, and nothing else', async () => {
      const [first, second, third, stranger] = [token(), token(), token(), token()];
      const [subject, other] = [token(), token()];
      await asked(first, { ...ok, successorHash: second, subjectHash: subject });
      await asked(second, { ...ok, successorHash: third, subjectHash: subject });
      await asked(stranger, { ...ok, successorHash: token(), subjectHash: other });
      await answers.drop(third, undefined);
      expect(await answers.find(second)).toBeUndefined();
      expect(await answers.find(first)).toBeUndefined();
      expect(await answers.find(stranger)).toMatchObject(ok);
      await answers.drop(token(), other);
      expect(await answers.find(stranger)).toBeUndefined();
    });

    it('without a user, what has none is left alone', async () => {
      const [one, another] = [token(), token()];
      await asked(one);
      await asked(another);
      await answers.drop(one, undefined);
      expect([await answers.find(one), await answers.find(another)]).toEqual([undefined, expect.objectContaining(ok)]);
    });

    it('a buried token stays dead through a logout, and until a sign-in brings it', async () => {
      const hash = token();
      const attempt = randomUUID();
      await answers.claim(hash, attempt, 60_000);
      await answers.bury(hash, randomUUID(), 60_000);
      await answers.settle(hash, attempt, ok, 60_000);
      await answers.drop(hash, undefined);
      await answers.sweep();
      expect(await answers.find(hash)).toMatchObject({ outcome: 'signed_out' });
      expect(await answers.claim(hash, randomUUID(), 60_000)).toBe(false);
      await answers.forget(hash);
      expect(await answers.claim(hash, randomUUID(), 60_000)).toBe(true);
    });
  });
});
