import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#platform/db/db.ts';
import type { LeaseTables } from '#platform/db/lease.ts';
import { createServer } from '#platform/http/server.ts';
import { Closers } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { databaseEngines } from '../../test/database.fixture.ts';
import { acquireServiceLeases } from './servicelease.ts';

const log = createLog({ level: 'silent' });
/** Renewed soon, and valid for longer than a busy machine stops the renewals. */
const quick = { ttlMs: 5_000, renewEveryMs: 100 };

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`serviceLeases on ${engine.name}`, () => {
    let database: Database;
    const processes: Closers[] = [];
    beforeAll(async () => {
      database = await engine.open();
    });
    afterEach(async () => {
      for (const closers of processes.splice(0)) await closers.closeAll();
    });
    afterAll(() => database.close());

    /** Acts as a separate process. */
    async function take(...services: string[]) {
      const closers = new Closers();
      processes.push(closers);
      return { closers, serviceLeases: await acquireServiceLeases(services, database, log, closers, quick) };
    }

    it('belong to one process per service; other processes may have those of other services', async () => {
      await take('media', 'memory');
      await expect(take('media')).rejects.toThrow(/^REDIS_URL: another process runs media on this database/);
      await expect(take('content')).resolves.toBeDefined();
    });

    it('become available when their process has closed', async () => {
      const { closers } = await take('media');
      await closers.closeAll();
      await expect(take('media')).resolves.toBeDefined();
    });

    it('of a dead process can be acquired when they expire', async () => {
      const leases = database.queries<LeaseTables>();
      const dead = { name: 'service/image', holder: 'a dead process', fence: 1 };
      await leases
        .insertInto('leases')
        .values({ ...dead, expires_at: sql`now() + interval '1 second'` })
        .execute();
      const { serviceLeases } = await take('image');
      expect(serviceLeases.get('image')?.isHeld()).toBe(true);
      const row = leases.selectFrom('leases').select('holder').where('name', '=', dead.name);
      expect((await row.executeTakeFirstOrThrow()).holder).not.toBe(dead.holder);
    });

    it('cause 503 after a loss until they are acquired again, and then reset the caches', async () => {
      const serviceLease = (await take('media')).serviceLeases.get('media');
      let returns = 0;
      serviceLease?.onReturn(async () => {
        returns += 1;
      });
      const app = createServer({
        log,
        service: 'media',
        readiness: {},
        mayServe: () => serviceLease?.isHeld() ?? true,
      });
      app.get('/v1/x', async () => 'here');
      const status = async (url: string) => (await app.inject({ url, headers: { host: 'x' } })).statusCode;
      expect(await status('/v1/x')).toBe(200);

      const rows = () => database.queries<LeaseTables>().updateTable('leases').where('name', '=', 'service/media');
      await rows().set({ holder: 'another process', expires_at: sql`now() + interval '1 hour'` }).execute();
      await expect.poll(() => serviceLease?.isHeld()).toBe(false);
      expect([await status('/v1/x'), await status('/health'), await status('/ready')]).toEqual([503, 200, 503]);
      expect(returns).toBe(0);

      await rows().set({ expires_at: sql`now()` }).execute();
      await expect.poll(() => serviceLease?.isHeld(), { timeout: 10_000 }).toBe(true);
      expect([await status('/v1/x'), returns]).toEqual([200, 1]);
      await app.close();
    });
  });
}
