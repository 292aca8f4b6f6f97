import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImageSignedRefs, RegistrationRequest } from '#media/api.ts';
import { signImages } from '#media/signing.ts';
import { findAsset, type MediaTables } from '#media/store.ts';
import type { Database } from '#platform/db/db.ts';
import { openTestCache } from '../caches.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { picture, svg } from './pictures.fixture.ts';
import { openRecords } from './registering.child.ts';
import { openFiles, outcomeOf, registrationDeps, uploaded } from './registering.fixture.ts';

const program = join(import.meta.dirname, 'registering.child.ts');
const embedded = async () => ({ url: 'embedded', drop: async () => undefined });

for (const { name, missing } of databaseEngines) {
  describe.skipIf(missing)(`a process killed while it registers, on ${name}`, () => {
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

    /** What it printed; `undefined`: it was killed. */
    function run(
      request: RegistrationRequest,
      killAt: number,
      blockedHashes: string | undefined,
    ): Promise<string | undefined> {
      const orders = JSON.stringify({ databaseUrl: server.url, dataDir, request, killAt, blockedHashes });
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
      execFile(process.execPath, [program, orders], (error, stdout) => {
        if (error?.signal === 'SIGKILL') resolve(undefined);
        else if (error) reject(error);
        else resolve(stdout.trim());
      });
      return promise;
    }

    /** One process after the other, each killed one call later, until one lives. */
    async function killEverywhere(
      bytes: Uint8Array,
      ending: string,
      blockedHashes?: string,
    ): Promise<readonly RegistrationRequest[]> {
      const killed: RegistrationRequest[] = [];
      for (let killAt = 1; ; killAt++) {
        const { request } = await uploaded(openFiles(dataDir), bytes);
        const printed = await run(request, killAt, blockedHashes);
        if (printed === undefined) killed.push(request);
        else {
          expect(printed).toBe(ending);
          return killed;
        }
      }
    }

    /** What is known of an asset, which is checked to be readable only when it is ready, and ready only with its object. */
    async function look(database: Database, { assetId }: RegistrationRequest) {
      const { db, objects } = registrationDeps(database, dataDir);
      const row = await findAsset(db, assetId);
      const head = row && (await objects.head(row.storageKey));
      const signing = {
        db,
        objects: { ...openFiles(dataDir), readAddress: (key: string) => key },
        legacy: { bucket: () => undefined },
        resizeAddress: () => '',
        publicScopes: [],
        answers: openTestCache(database),
        addressing: '',
      };
      const refs: ImageSignedRefs = JSON.parse(
        await signImages(signing, { kind: 'internal' }, { refs: [assetId], legacyBucket: 'agent_message' }),
      );
      expect(refs[assetId]?.ready).toBe(Boolean(row?.readyAt));
      if (row?.readyAt) expect(head?.etag).toBe(row.etag);
      return { row, head };
    }

    it('leaves nothing readable without its object, and a repeat goes through', { timeout: 300_000 }, async () => {
      const good = await killEverywhere(await picture('png'), 'created');
      const bad = await killEverywhere(svg, 'unsupported_image');
      // As many calls as registration.test.ts counts.
      expect([good.length, bad.length]).toEqual([9, 8]);

      const database = await openRecords({ databaseUrl: server.url, dataDir });
      try {
        const deps = registrationDeps(database, dataDir);
        for (const request of good) {
          await look(database, request);
          expect(await outcomeOf(deps, request)).toBe('created');
          expect((await look(database, request)).row?.readyAt).toBeInstanceOf(Date);
        }
        for (const request of bad) {
          await look(database, request);
          expect(await outcomeOf(deps, request)).toBe('unsupported_image');
          expect(await look(database, request)).toEqual({ row: undefined, head: undefined });
        }
      } finally {
        await database.close();
      }
    });

    it('leaves nothing of a prohibited picture but its record', { timeout: 400_000 }, async () => {
      const prohibited = await picture('jpeg', { seed: 77 });
      const blockedHashes = join(dataDir, 'lists');
      await mkdir(blockedHashes);
      await writeFile(join(blockedHashes, 'md5.txt'), createHash('md5').update(prohibited).digest('hex'));
      const killed = await killEverywhere(prohibited, 'csam_blocked', blockedHashes);
      // Found, looked at, read, inspected, hashed, drafted, screened, asked for videos that show it, condemned, asked again,
      // looked at, removed, removed what lies beside it, forgot its variants, dropped.
      expect(killed.length).toBe(15);

      const database = await openRecords({ databaseUrl: server.url, dataDir });
      const deps = registrationDeps(database, dataDir, { blockedHashes });
      try {
        for (const request of killed) {
          expect((await look(database, request)).row?.readyAt ?? null).toBeNull();
          expect(['csam_blocked', 'object_not_found']).toContain(await outcomeOf(deps, request));
          expect(await look(database, request)).toEqual({ row: undefined, head: undefined });
        }
        const recorded = await database
          .queries<MediaTables>()
          .selectFrom('screening_incidents')
          .select('asset_id as assetId')
          .execute();
        const ids = recorded.map(({ assetId }) => assetId);
        expect(ids).toEqual(expect.arrayContaining(killed.map(({ assetId }) => assetId)));
        // And the one that lived, each once.
        expect([ids.length, new Set(ids).size]).toEqual([16, 16]);
      } finally {
        await deps.screening.close();
        await database.close();
      }
    });
  });
}
