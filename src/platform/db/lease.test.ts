import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { createLog } from '../log.ts';
import type { Database, Db } from './db.ts';
import { createLeases, LeaseLost, type Leases, type LeaseTables } from './lease.ts';

const hourMs = 3_600_000;
const log = createLog({ level: 'silent' });

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`leases on ${engine.name}`, () => {
    let database: Database;
    let db: Db<LeaseTables>;
    const processes: Leases[] = [];
    /** Starts the leases of one process, which renew only if a test sets the interval. */
    const startProcess = (times: { ttlMs?: number; renewEveryMs?: number } = {}): Leases => {
      const leases = createLeases({ db, log, ttlMs: hourMs, renewEveryMs: hourMs, ...times });
      processes.push(leases);
      return leases;
    };
    const expire = () => db.updateTable('leases').set({ expires_at: sql`now() - interval '1 second'` }).execute();
    const expiry = async (): Promise<Date> =>
      (await db.selectFrom('leases').select('expires_at').executeTakeFirstOrThrow()).expires_at;

    beforeAll(async () => {
      database = await engine.open();
      db = database.queries<LeaseTables>();
    });
    afterEach(async () => {
      await Promise.all(processes.splice(0).map((leases) => leases.close()));
      await db.deleteFrom('leases').execute();
    });
    afterAll(() => database.close());

    it('are granted to one holder per name', async () => {
      const [one, two] = [startProcess(), startProcess()];
      await expect(one.acquire('media')).resolves.toBeDefined();
      await expect(two.acquire('media')).resolves.toBeUndefined();
      await expect(one.acquire('media')).resolves.toBeUndefined();
      await expect(two.acquire('image')).resolves.toBeDefined();
    });

    it('are granted to exactly one of many concurrent callers', async () => {
      const acquisitions = Array.from({ length: 20 }, () => startProcess().acquire('media'));
      const given = (await Promise.all(acquisitions)).filter((lease) => lease !== undefined);
      expect(given).toHaveLength(1);
    });

    it('are free again when their process has closed', async () => {
      const [one, two] = [startProcess(), startProcess()];
      await one.acquire('media');
      await one.acquire('image');
      await one.close();
      await expect(two.acquire('media')).resolves.toBeDefined();
      await expect(two.acquire('image')).resolves.toBeDefined();
    });

    it('are taken over after they expire, by the clock of the database', async () => {
      const [one, two] = [startProcess(), startProcess()];
      await one.acquire('media');
      await expire();
      await expect(two.acquire('media')).resolves.toBeDefined();
    });

    it('are renewed while their holder runs', async () => {
      const one = startProcess({ renewEveryMs: 20 });
      await one.acquire('media');
      const before = await expiry();
      while ((await expiry()) <= before) await sleep(5);
    });

    it('notify their holder when they were taken over', async () => {
      const [one, two] = [startProcess({ renewEveryMs: 20 }), startProcess()];
      const [taken, kept] = [await one.acquire('media'), await one.acquire('image')];
      await db.updateTable('leases').set({ expires_at: sql`now()` }).where('name', '=', 'media').execute();
      await two.acquire('media');
      if (taken?.aborted === false) await once(taken, 'abort');
      expect(taken?.reason).toBeInstanceOf(LeaseLost);
      expect(kept?.aborted).toBe(false);
    });

    it('notify their holder when they could not be renewed in time, also while the database is unavailable', async () => {
      const one = startProcess({ ttlMs: 300, renewEveryMs: hourMs });
      const lease = await one.acquire('media');
      if (lease?.aborted === false) await once(lease, 'abort');
      expect(lease?.reason).toBeInstanceOf(LeaseLost);
    });

    it('of a dead holder delay a start until they expire', async () => {
      const dead = startProcess({ ttlMs: 300, renewEveryMs: hourMs });
      await dead.acquire('media');
      const next = startProcess({ renewEveryMs: 60 });
      await expect(next.acquireFromDead('media')).resolves.toBeDefined();
    });

    it('of a running holder make a start fail', async () => {
      await startProcess({ renewEveryMs: 20 }).acquire('media');
      const next = startProcess({ renewEveryMs: 60 });
      await expect(next.acquireFromDead('media')).resolves.toBeUndefined();
    });
  });
}
