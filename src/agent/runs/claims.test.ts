/** Claims of runs whose process died: which of them count as restarts, and which of two claimers may begin. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { databaseEngines } from '../../../test/database.fixture.ts';
import type { AgentTables } from '../tables.ts';
import { beginRun, claimDeadRuns, claimRun, insertRun, releaseRun, renewLeases } from './runstore.ts';

describe.each(databaseEngines)('claims of runs on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    beforeAll(async () => {
      database = await engine.open(migrations);
    });
    afterAll(() => database.close());

    const newRun = (holder: string = randomUUID()) =>
      transaction(database.queries<AgentTables>(), (tx) =>
        insertRun(tx, {
          taskId: randomUUID(),
          threadId: randomUUID(),
          ownerId: randomUUID(),
          messageId: randomUUID(),
          holder,
          model: 'offline-demo',
          credits: 1,
          leaseMs: 60_000,
        }),
      );
    async function claim(taskId: string) {
      const claimed = await claimRun(database.queries<AgentTables>(), randomUUID(), 60_000, taskId);
      if (claimed === undefined) throw new Error('the run has ended');
      return claimed;
    }

    it('count once, however many processes claim a run before one begins it', async () => {
      const db = database.queries<AgentTables>();
      const { taskId } = await newRun();
      const restarts: number[] = [];
      for (let turn = 0; turn < 4; turn++) restarts.push((await claim(taskId)).restarts);
      expect(restarts).toEqual([1, 1, 1, 1]);
      const last = await claim(taskId);
      expect(await beginRun(db, last, 60_000)).toBe(true);
      expect((await claim(taskId)).restarts).toBe(2);
    });

    it.runIf(engine.name === 'postgres')('wait for no run that a transaction has locked', async () => {
      const db = database.queries<AgentTables>();
      const holder = randomUUID();
      const [locked, free, lost] = [await newRun(holder), await newRun(holder), await newRun()];
      const taskIds = [locked, free, lost].map(({ taskId }) => taskId);
      const leases = () =>
        db.selectFrom('agent_runs').select(['task_id', 'lease_expires_at']).where('task_id', 'in', taskIds).execute();
      const before = new Map((await leases()).map((row) => [row.task_id, row.lease_expires_at.getTime()]));
      const [hasLock, isRenewed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const ending = transaction(db, async (tx) => {
        await tx.selectFrom('agent_runs').select('task_id').where('task_id', '=', locked.taskId).forUpdate().execute();
        hasLock.resolve();
        await isRenewed.promise;
      });
      await hasLock.promise;
      const held = await renewLeases(db, holder, taskIds, 600_000).finally(isRenewed.resolve);
      await ending;
      expect(held.map(({ taskId }) => taskId).sort()).toEqual([locked.taskId, free.taskId].sort());
      const renewed = (await leases()).filter((row) => row.lease_expires_at.getTime() !== before.get(row.task_id));
      expect(renewed.map((row) => row.task_id)).toEqual([free.taskId]);
    });

    it('leave a process that stood still what it executes, and give it to another process only', async () => {
      const db = database.queries<AgentTables>();
      const holder = randomUUID();
      const [slow, lost] = [await newRun(holder), await newRun(holder)];
      const taskIds = [slow.taskId, lost.taskId];
      const expire = () =>
        db
          .updateTable('agent_runs')
          .set({ lease_expires_at: new Date(0) })
          .where('task_id', 'in', taskIds)
          .execute();
      await expire();
      const [own] = await claimDeadRuns(db, holder, 1000, false, 1, [slow.taskId]);
      expect(own?.taskId).toBe(lost.taskId);
      await expire();
      expect(await renewLeases(db, holder, [slow.taskId], 600_000)).toMatchObject([{ taskId: slow.taskId }]);
      await expire();
      await claimDeadRuns(db, randomUUID(), 600_000, false, 100);
      expect(await renewLeases(db, holder, taskIds, 600_000)).toEqual([]);
      // A renewal may come right after the release.
      const released = await newRun(holder);
      await releaseRun(db, released);
      expect(await renewLeases(db, holder, [released.taskId], 600_000)).toEqual([]);
    });

    it('let only the last claimer begin', async () => {
      const db = database.queries<AgentTables>();
      const { taskId } = await newRun();
      const [early, late] = [await claim(taskId), await claim(taskId)];
      expect(await beginRun(db, late, 60_000)).toBe(true);
      expect(await beginRun(db, early, 60_000)).toBe(false);
    });

    it('do not count after a hand-over', async () => {
      const db = database.queries<AgentTables>();
      const run = await newRun();
      expect(await releaseRun(db, run)).toBe(true);
      const claimed = await claim(run.taskId);
      expect(claimed.restarts).toBe(0);
      await beginRun(db, claimed, 60_000);
      expect((await claim(run.taskId)).restarts).toBe(1);
    });
  });
});
