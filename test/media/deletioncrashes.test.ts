import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import type { DeletionOrders } from './deleting.child.ts';
import { type Deed, type DeletionOf, deletionOutcome, plantVideo, removalDeps, rowsOfAll } from './deleting.fixture.ts';
import { remaining } from './planting.fixture.ts';
import { openRecords } from './registering.child.ts';
import { openFiles } from './registering.fixture.ts';

const program = join(import.meta.dirname, 'deleting.child.ts');
const embedded = async () => ({ url: 'embedded', drop: async () => undefined });
/** More calls of engines than a deletion makes. */
const mostCalls = 24;

for (const { name, missing } of databaseEngines) {
  describe.skipIf(missing)(`a process killed while it deletes, on ${name}`, () => {
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

    /** What it printed; `undefined`: it was killed. */
    function run(deed: Deed, what: DeletionOf, killAt: number): Promise<string | undefined> {
      const orders: DeletionOrders = { databaseUrl: server.url, dataDir, deed, what, killAt };
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
      execFile(process.execPath, [program, JSON.stringify(orders)], (error, stdout) => {
        if (error?.signal === 'SIGKILL') resolve(undefined);
        else if (error) reject(error);
        else resolve(stdout.trim());
      });
      return promise;
    }

    it.each<Deed>(['assets', 'scope'])(
      'of %s: rows of what is left stay, and a repeat goes through',
      { timeout: 180_000 },
      async (deed) => {
        const originals = openFiles(dataDir);
        const before = await open();
        const planted = [];
        for (let count = 0; count < mostCalls; count++) planted.push(await plantVideo({ database: before, originals }));
        await before.close();

        // Each process is killed one call later, until one lives.
        const printed: (string | undefined)[] = [];
        for (const [index, what] of planted.entries()) {
          printed.push(await run(deed, what, index + 1));
          if (printed.at(-1) !== undefined) break;
        }
        expect(printed.at(-1)).toBe(deed === 'assets' ? '2' : '3');
        expect(printed.length).toBeGreaterThan(3);
        const whats = planted.slice(0, printed.length);

        const database = await open();
        try {
          const ground = { database, originals };
          for (const what of whats) {
            await rowsOfAll(ground, what.all);
            const named = String((await remaining(ground, deed === 'assets' ? what.named : what.all)).rows);
            expect(await deletionOutcome(removalDeps(database, dataDir), deed, what)).toBe(named);
            expect(await remaining(ground, what.all)).toEqual({ rows: 0, objects: 0 });
          }
        } finally {
          await database.close();
        }
      },
    );
  });
}
