import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registrationRequest } from '#media/api.ts';
import { signImages } from '#media/signing.ts';
import { storageKeyOf } from '#media/storagekey.ts';
import { findAsset } from '#media/store.ts';
import { picture, svg } from '#media/test-pictures.ts';
import type { Database } from '#platform/db/db.ts';
import { openObjects, openRecords, outcomeOf, registrationDeps } from './registering.ts';

const program = join(import.meta.dirname, 'registering.ts');

describe.each([{ name: 'PGlite', databaseUrl: 'embedded' }])(
  'a process killed while it registers, on $name',
  (engine) => {
    let dataDir: string;
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-crash-'));
    });
    afterAll(() => rm(dataDir, { recursive: true, force: true }));

    async function uploaded(bytes: Uint8Array) {
      const ownerId = randomUUID();
      const request = registrationRequest.parse({
        assetId: randomUUID(),
        ownerId,
        scopeKind: 'thread',
        scopeId: '1',
        kind: 'image',
        mime: 'image/png',
      });
      await openObjects(dataDir).put(storageKeyOf({ ...request, ownerId }), bytes, { contentType: 'image/png' });
      return request;
    }

    /** What it printed; `undefined`: it was killed. */
    function run(request: object, killAt: number): Promise<string | undefined> {
      const orders = JSON.stringify({ ...engine, dataDir, request, killAt });
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
      execFile(process.execPath, [program, orders], (error, stdout) => {
        if (error?.signal === 'SIGKILL') resolve(undefined);
        else if (error) reject(error);
        else resolve(stdout.trim());
      });
      return promise;
    }

    /** One process after the other, each killed one call later, until one lives. */
    async function killEverywhere(bytes: Uint8Array, ending: string) {
      const killed = [];
      for (let killAt = 1; ; killAt++) {
        const request = await uploaded(bytes);
        const printed = await run(request, killAt);
        if (printed === undefined) killed.push(request);
        else {
          expect(printed).toBe(ending);
          return killed;
        }
      }
    }

    async function withRecords(work: (database: Database) => Promise<void>): Promise<void> {
      const database = await openRecords({ ...engine, dataDir });
      try {
        await work(database);
      } finally {
        await database.close();
      }
    }

    it('leaves nothing that is readable without its object, and a repeat goes through', {
      timeout: 180_000,
    }, async () => {
      const good = await killEverywhere(await picture('png'), 'created');
      const bad = await killEverywhere(svg, 'unsupported_image');
      expect([good.length, bad.length]).toEqual([7, 8]);

      await withRecords(async (database) => {
        const deps = registrationDeps(database, dataDir);
        const signing = {
          db: deps.db,
          objects: { bucket: 'objects', readAddress: (key: string) => key },
          resizeAddress: () => '',
          publicScopes: [],
        };
        const look = async ({ assetId }: { readonly assetId: string }) => {
          const row = await findAsset(deps.db, assetId);
          const refs = await signImages(signing, { kind: 'internal' }, { refs: [assetId], legacyBucket: undefined });
          const head = row && (await deps.objects.head(row.storageKey));
          expect(refs[assetId]?.ready).toBe(Boolean(row?.readyAt));
          if (row?.readyAt) expect(head?.etag).toBe(row.etag);
          return { row, head };
        };
        for (const request of good) {
          await look(request);
          expect(['created', 'replayed']).toContain(await outcomeOf(deps, request));
          expect((await look(request)).row?.readyAt).toBeInstanceOf(Date);
        }
        for (const request of bad) {
          await look(request);
          expect(['unsupported_image', 'object_not_found']).toContain(await outcomeOf(deps, request));
          expect(await look(request)).toEqual({ row: undefined, head: undefined });
        }
      });
    });
  },
);
