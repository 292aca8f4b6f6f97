/** A canceled order that is not free keeps its credits, and its asset is never delivered. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { databaseEngines, openTestDatabase } from '../../../test/database.fixture.ts';
import { ensureProfile, findProfile } from '../store.ts';
import { chargeForAsset, closeCredits, isSettled, type LedgerTables, reserveCredits } from './credits.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
});
afterAll(() => database.close());

async function reserve() {
  const db = database.queries<LedgerTables>();
  const [userId, assetId, reference] = [randomUUID(), randomUUID(), `order:${randomUUID()}`];
  await ensureProfile(db, { id: userId, credits: 10 });
  const order = { reference, scope: reference, userId, amount: 4, assetId };
  await transaction(db, (tx) => reserveCredits(tx, order));
  const close = (references: readonly string[]) => transaction(db, (tx) => closeCredits(tx, reference, references));
  const balance = async () => (await findProfile(db, userId))?.credits;
  return { db, userId, assetId, reference, close, balance };
}

it('an asset that arrives after its charged cancellation is refused', async () => {
  const { db, userId, assetId, reference, close, balance } = await reserve();
  expect((await close([reference]))?.settled).toEqual([{ reference, amount: 4 }]);
  expect([await chargeForAsset(db, assetId, userId), await isSettled(db, reference)]).toEqual(['closed', false]);
  expect(await balance()).toBe(6);
});

it('an asset that was delivered stays delivered when its scope closes', async () => {
  const { db, userId, assetId, reference, close, balance } = await reserve();
  expect(await chargeForAsset(db, assetId, userId)).toBe('charged');
  await close([]);
  expect([await chargeForAsset(db, assetId, userId), await isSettled(db, reference)]).toEqual(['charged', true]);
  expect(await balance()).toBe(6);
});

it.each(databaseEngines.filter(({ missing }) => !missing))(
  'concurrent reservations take no more than there is, on $name',
  async (engine) => {
    const shared = await engine.open(migrations);
    try {
      const db = shared.queries<LedgerTables>();
      const userId = randomUUID();
      await ensureProfile(db, { id: userId, credits: 10 });
      const reserve = (reference: string) =>
        transaction(db, (tx) => reserveCredits(tx, { reference, scope: reference, userId, amount: 4 }));
      const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => reserve(`order:${index % 5}`)));
      const taken = new Set(answers.flatMap(({ reserved }, index) => (reserved ? index % 5 : [])));
      expect(taken.size).toBe(2);
      expect((await findProfile(db, userId))?.credits).toBe(2);
      const again = await Promise.all([...taken, ...taken].map((index) => reserve(`order:${index}`)));
      expect(again).toEqual(again.map(() => ({ reserved: true, balance: 2 })));
      expect((await findProfile(db, userId))?.credits).toBe(2);
    } finally {
      await shared.close();
    }
  },
);
