import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import type { CopyOrders } from './copying.child.ts';
import { copyDeps, copyOutcome, holdingsOf, plantSource, type SourceKind } from './copying.fixture.ts';
import { openRecords } from './registering.child.ts';
import { sweepAll, sweepDeps } from './sweeping.fixture.ts';

const program = join(import.meta.dirname, 'copying.child.ts');
const embedded = async () => ({ url: 'embedded', drop: async () => undefined });
/** More calls of engines than a copy makes. */
const mostCalls = 20;
const hourMs = 3_600_000;

for (const { name, missing } of databaseEngines) {
  describe.skipIf(missing)(`a process killed while it copies, on ${name}`, () => {
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
    function run(what: CopyOrders['what'], killAt: number): Promise<string | undefined> {
      const orders: CopyOrders = { databaseUrl: server.url, dataDir, what, killAt };
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
      execFile(process.execPath, [program, JSON.stringify(orders)], (error, stdout) => {
        if (error?.signal === 'SIGKILL') resolve(undefined);
        else if (error) reject(error);
        else resolve(stdout.trim());
      });
      return promise;
    }

    it.each<SourceKind>(['asset', 'legacy path'])(
      'of an %s: nothing readable is left, a repeat goes through, and what is left is removed a day later',
      { timeout: 180_000 },
      async (kind) => {
        const before = await open();
        const sources = [];
        const planting = copyDeps(before, dataDir);
        for (let count = 0; count < mostCalls; count++) sources.push(await plantSource(planting, kind));
        await planting.screening.close();
        await before.close();

        // Each process is killed one call later, until one lives.
        const printed: (string | undefined)[] = [];
        for (const [index, what] of sources.entries()) {
          printed.push(await run(what, index + 1));
          if (printed.at(-1) !== undefined) break;
        }
        expect(printed.at(-1)).toBe('copied');
        expect(printed.length).toBeGreaterThan(3);
        const whats = sources.slice(0, printed.length);

        const database = await open();
        const deps = copyDeps(database, dataDir);
        try {
          const own = kind === 'asset' ? 1 : 0;
          const removeAt = async (ageMs: number) => {
            const found = await sweepAll(sweepDeps(database, dataDir, ageMs));
            return found.filter(({ fate }) => fate === 'removed').length;
          };
          let left = 0;
          for (const [index, what] of whats.entries()) {
            const holdings = await holdingsOf(database, dataDir, what.ownerId);
            expect(holdings.ready).toBe(index === whats.length - 1 ? own + 1 : own);
            left += holdings.unready;
            expect(await copyOutcome(deps, what)).toBe('copied');
          }
          // Once drafted, until ready.
          expect(left).toBeGreaterThan(0);
          expect(await removeAt(23 * hourMs)).toBe(0);
          expect(await removeAt(25 * hourMs)).toBe(left);
          for (const [index, what] of whats.entries()) {
            const copies = index === whats.length - 1 ? 2 : 1;
            const whole = { ready: own + copies, unready: 0, objects: own + copies };
            expect(await holdingsOf(database, dataDir, what.ownerId)).toEqual(whole);
          }
        } finally {
          await deps.screening.close();
          await database.close();
        }
      },
    );
  });
}
