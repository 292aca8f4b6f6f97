import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectSource } from '#image/engine/sources.ts';
import { toTransform } from '#image/engine/specs.ts';
import type { MediaTables } from '#media/store.ts';
import type { Database } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { picture } from './pictures.fixture.ts';
import { plant } from './planting.fixture.ts';
import { openRecords } from './registering.child.ts';
import { openFiles, openPublicFiles, outcomeOf, registrationDeps, uploaded } from './registering.fixture.ts';
import type { SweepOrders } from './sweeping.child.ts';
import { hourMs, sweepAll, sweepDeps } from './sweeping.fixture.ts';

const program = join(import.meta.dirname, 'sweeping.child.ts');
const embedded = async () => ({ url: 'embedded', drop: async () => undefined });

for (const { name, missing } of databaseEngines) {
  describe.skipIf(missing)(`a process killed while it sweeps, on ${name}`, () => {
    let dataDir: string;
    let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-crash-'));
      server = await (name === 'postgres' ? createPostgresDatabase() : embedded());
    });
    afterAll(async () => {
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    const open = () => openRecords({ databaseUrl: server.url, dataDir });

    /** A variant of an object that others took away. */
    async function layStray(database: Database, files: Objects): Promise<readonly string[]> {
      const [source, transform] = ['v/gone.png', toTransform({ width: 8 })];
      await files.put(source, await picture('png'), { contentType: 'image/png' });
      const { variants } = sweepDeps(database, dataDir);
      const made = await variants.ensure(objectSource(files, source), [{ transform }]);
      await files.remove([source]);
      return made.map(({ key }) => key);
    }

    /** What it printed; `undefined`: it was killed. */
    function run(killAt: number, laterMs: number): Promise<string | undefined> {
      const orders: SweepOrders = { databaseUrl: server.url, dataDir, killAt, laterMs };
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
      execFile(process.execPath, [program, JSON.stringify(orders)], (error, stdout) => {
        if (error?.signal === 'SIGKILL') resolve(undefined);
        else if (error) reject(error);
        else resolve(stdout.trim());
      });
      return promise;
    }

    it('loses nothing that is registered, and a later sweep ends its work', { timeout: 240_000 }, async () => {
      const before = await open();
      const files = openFiles(dataDir);
      const png = await picture('png');
      const ground = { database: before, originals: files };
      const kept = await plant(ground, 2, { beside: ['.wm.jpg'] });
      const lost = await plant(ground, 1, { beside: ['.wm.jpg'] });
      await files.remove(lost.map(({ storageKey }) => storageKey));
      await plant(ground, 1, { isReady: false });
      const strays = await layStray(before, files);
      const uploads = [];
      for (let count = 0; count < 3; count++) uploads.push(await uploaded(files, png));
      const [first, ...others] = uploads;
      await before.close();

      // Each begins where the one before it died; what is claimed by then is a day older each time.
      let kills = 0;
      for (let killAt = 2; ; killAt += 3) {
        const printed = await run(killAt, 25 * hourMs);
        if (printed !== undefined) break;
        kills += 1;
      }
      expect(kills).toBeGreaterThan(3);

      const database = await open();
      const deps = registrationDeps(database, dataDir);
      try {
        if (first === undefined) throw new Error('nothing was uploaded');
        // What a dead sweep has claimed is refused, and free again.
        expect(await outcomeOf(deps, first.request)).toBe('object_not_found');
        await first.put(png);
        expect(await outcomeOf(deps, first.request)).toBe('created');
        await sweepAll(sweepDeps(database, dataDir, 50 * hourMs));
        const rows = await database
          .queries<MediaTables>()
          .selectFrom('assets')
          .select('storage_key as storageKey')
          .orderBy('storage_key')
          .execute();
        const expected = [...kept.map(({ storageKey }) => storageKey), first.storageKey].sort();
        expect(rows.map(({ storageKey }) => storageKey).sort()).toEqual(expected);
        const keys = [];
        for await (const { key } of files.list('u/')) keys.push(key);
        expect(keys.sort()).toEqual([...expected, ...kept.map(({ storageKey }) => `${storageKey}.wm.jpg`)].sort());
        for await (const { key } of openPublicFiles(dataDir).list('img/')) expect(strays).not.toContain(key);
        for (const { request } of others) expect(await outcomeOf(deps, request)).toBe('object_not_found');
      } finally {
        await deps.screening.close();
        await database.close();
      }
    });
  });
}
