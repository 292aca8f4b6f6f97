/** Part of the database suite: transactions, and the guard around them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { assertOutsideTransaction, type Db, transaction } from '#platform/db/db.ts';
import type { SampleTables } from './sample.fixture.ts';

export function describeTransactions(db: () => Db<SampleTables>): void {
  const names = async (): Promise<(string | null)[]> => {
    const rows = await db().selectFrom('samples').select('name').orderBy('name').execute();
    return rows.map(({ name }) => name);
  };
  const addOutside = (name: string) => db().insertInto('samples').values({ name }).execute();

  it('commits all', async () => {
    const result = await transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      await tx.insertInto('samples').values({ name: 'b' }).execute();
      return 'done';
    });
    expect(result).toBe('done');
    expect(await names()).toEqual(['a', 'b']);
  });

  it('rolls back when the work throws, and throws just that', async () => {
    const fault = new Error('no');
    const attempt = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      throw fault;
    });
    await expect(attempt).rejects.toBe(fault);
    expect(await names()).toEqual([]);
  });

  it('commits nothing if a failed statement was ignored', async () => {
    const attempt = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      await sql`select 1 / 0`.execute(tx).catch(() => 'swallowed');
    });
    await expect(attempt).rejects.toMatchObject({ name: 'AbortedTransactionError' });
    expect(await names()).toEqual([]);
  });

  it('throws immediately on the outer handle inside, rolls back, and works after that', async () => {
    const attempt = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'inside' }).execute();
      await addOutside('outside');
    });
    await expect(attempt).rejects.toThrow('the outer database handle was used inside a transaction');
    expect(await names()).toEqual([]);
    await addOutside('after');
    expect(await names()).toEqual(['after']);
  });

  it('throws on the outer handle inside the transaction, at any depth', async () => {
    await transaction(db(), async (tx) => {
      await expect(Promise.all([nextTurn().then(() => addOutside('a'))])).rejects.toThrow('inside a transaction');
      await tx.insertInto('samples').values({ name: 'b' }).execute();
    });
    expect(await names()).toEqual(['b']);
  });

  it('rejects nesting in both forms', async () => {
    await transaction(db(), async (tx) => {
      await expect(transaction(db(), async () => 'never')).rejects.toThrow('a nested transaction');
      await expect(transaction<SampleTables, string>(tx, async () => 'never')).rejects.toThrow('a nested transaction');
    });
  });

  it('rejects a transaction that was not started by transaction()', async () => {
    const attempt = db()
      .transaction()
      .execute(async () => 'never');
    await expect(attempt).rejects.toThrow('Begin transactions with transaction()');
    await addOutside('after');
  });

  it('reports an open transaction only while it is open', async () => {
    expect(() => assertOutsideTransaction('the store')).not.toThrow();
    const { promise: committed, resolve } = Promise.withResolvers<void>();
    const later = await transaction(db(), async () => {
      expect(() => assertOutsideTransaction('the store')).toThrow('the store was used inside a transaction');
      return { write: committed.then(() => addOutside('later')) };
    });
    resolve();
    await later.write;
    expect(await names()).toEqual(['later']);
  });

  it('does not affect concurrent outer work, which never sees uncommitted rows', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const inside = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      begin();
      await nextTurn();
      await tx.deleteFrom('samples').where('name', '=', 'a').execute();
      await tx.insertInto('samples').values({ name: 'b' }).execute();
    });
    await begun;
    const seen = await Promise.all([names(), names(), names()]);
    await inside;
    for (const each of seen) expect([[], ['b']]).toContainEqual(each);
    expect(await names()).toEqual(['b']);
  });

  it('rejects statements after the transaction has ended', async () => {
    const { promise: failed, resolve } = Promise.withResolvers<void>();
    let straggler: Promise<unknown> | undefined;
    const attempt = transaction(db(), async (tx) => {
      straggler = failed.then(() => tx.insertInto('samples').values({ name: 'late' }).execute());
      throw new Error('no');
    });
    await expect(attempt).rejects.toThrow('no');
    resolve();
    await expect(straggler).rejects.toThrow('Transaction is already rolled back');
    expect(await names()).toEqual([]);
  });

  it('does not run a sibling of a failed step after the rollback', async () => {
    let siblings: Promise<unknown> | undefined;
    const attempt = transaction(db(), async (tx) => {
      const inserts = ['a', 'b', 'c'].map((name) => tx.insertInto('samples').values({ name }).execute());
      siblings = Promise.allSettled(inserts);
      throw new Error('no');
    });
    await expect(attempt).rejects.toThrow('no');
    await siblings;
    expect(await names()).toEqual([]);
  });

  it('ends a transaction that hangs', async () => {
    const attempt = transaction(
      db(),
      async (tx) => {
        await tx.insertInto('samples').values({ name: 'a' }).execute();
        await new Promise(() => undefined);
      },
      100,
    );
    await expect(attempt).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(await names()).toEqual([]);
  });

  it('loses no concurrent update', async () => {
    await addOutside('counter');
    const increment = () =>
      transaction(db(), async (tx) => {
        const { big } = await tx.selectFrom('samples').select('big').forUpdate().executeTakeFirstOrThrow();
        await tx
          .updateTable('samples')
          .set({ big: (big ?? 0) + 1 })
          .execute();
      });
    await Promise.all(Array.from({ length: 40 }, increment));
    expect(await db().selectFrom('samples').select('big').execute()).toEqual([{ big: 40 }]);
  });
}
