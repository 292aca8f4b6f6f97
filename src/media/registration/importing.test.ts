/** Imports of legacy files, failed and interrupted at every moment. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { defaultLegacyBucket, type Objects } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { openLegacyFiles } from '../../../test/media/deleting.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { interrupted } from '../../../test/media/interruption.fixture.ts';
import { registrationDeps } from '../../../test/media/registering.fixture.ts';
import { legacyImport } from '../api.ts';
import { draftAsset, findAsset } from '../assets/assetstore.ts';
import type { ScreeningContext } from '../context.ts';
import type { MediaTables } from '../tables.ts';
import { importedIdOf, importFile } from './importing.ts';
import { unknownFacts } from './inspection.ts';

const manyMoments = 40;

it('the id of a file is always the same, and no other file’s', () => {
  expect(importedIdOf('agent_message', 'a/b.png')).toBe(importedIdOf('agent_message', 'a/b.png'));
  const others = [
    importedIdOf('agent_message', 'a/b.png'),
    importedIdOf('agent_message', 'a/B.png'),
    importedIdOf('agent', 'a/b.png'),
    importedIdOf('a', 'b/c'),
    importedIdOf('b', 'a/c'),
  ];
  expect(new Set(others).size).toBe(others.length);
});

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`an import on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let files: Objects;
    let deps: ScreeningContext;
    let images: readonly Buffer[];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-import-'));
      database = await engine.open(migrations);
      const legacy = openLegacyFiles(folder);
      const bucket = legacy.bucket(defaultLegacyBucket);
      if (bucket === undefined) throw new Error('there is no legacy bucket');
      files = bucket;
      deps = { ...registrationDeps(database, folder), legacy };
      images = [await makeImage('png'), await makeImage('png', { width: 30, seed: 5 })];
    });
    afterAll(async () => {
      await deps.screening.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('concurrent drafts do not fail: one is written, and the others overwrite it or retry', async () => {
      const db = database.queries<MediaTables>();
      for (let round = 0; round < 40; round++) {
        const path = `${randomUUID()}/a.bin`;
        const assetId = importedIdOf(files.bucket, path);
        const requestedMime = 'application/octet-stream';
        const identity = {
          assetId,
          ownerId: randomUUID(),
          scopeKind: 'thread',
          scopeId: '1',
          kind: 'file',
          requestedMime,
        };
        const place = { backend: 'legacy', bucket: files.bucket, storageKey: path, etag: '"1"', byteSize: 1 } as const;
        const draft = () => draftAsset(db, identity, place, unknownFacts(requestedMime));
        expect(await Promise.all(Array.from({ length: 8 }, draft))).toContain(true);
      }
    });

    async function laid() {
      const path = `${randomUUID()}/a.png`;
      const put = (bytes: Buffer = Buffer.from('')) => files.put(path, bytes, { contentType: 'image/png' });
      await put(images[0]);
      const request = legacyImport.parse({ ownerId: randomUUID(), scopeKind: 'thread', scopeId: '1', path });
      return { path, put, request, assetId: importedIdOf(defaultLegacyBucket, path) };
    }
    const outcomeOf = (with_: ScreeningContext, request: ReturnType<typeof legacyImport.parse>) =>
      importFile(with_, request).then(
        ({ created }) => (created ? 'created' : 'replayed'),
        (error: unknown) => {
          if (error instanceof Problem) return error.code;
          throw error;
        },
      );

    it('that fails at any step shows nothing, and can be repeated', { timeout: 60_000 }, async () => {
      const outcomes = new Set<string>();
      for (let failAt = 1; failAt < manyMoments; failAt++) {
        const { request, assetId, path } = await laid();
        let hasFailed = false;
        const failing = interrupted(deps, ({ number }) => {
          if (number !== failAt) return;
          hasFailed = true;
          throw problems.engine_unavailable();
        });
        const outcome = await outcomeOf(failing, request);
        if (!hasFailed) {
          expect(outcome).toBe('created');
          break;
        }
        expect(outcome).toBe('engine_unavailable');
        outcomes.add(await outcomeOf(deps, request));
        expect((await findAsset(deps.db, assetId))?.readyAt).toBeInstanceOf(Date);
        expect(await files.head(path)).toBeDefined();
      }
      // The last step is a transaction.
      expect([...outcomes]).toEqual(['created']);
    });

    it('of a file that is replaced at any moment describes the current bytes', { timeout: 60_000 }, async () => {
      const widths = new Set<number | null | undefined>();
      for (let workAt = 1; workAt < manyMoments; workAt++) {
        const { request, assetId, put, path } = await laid();
        let hasWorked = false;
        const watched = interrupted(deps, async ({ number, call }) => {
          if (hasWorked || number < workAt || ['before query', 'in a transaction'].includes(call)) return;
          hasWorked = true;
          await put(images[1]);
        });
        expect(await outcomeOf(watched, request)).toBe('created');
        if (!hasWorked) break;
        const row = await findAsset(deps.db, assetId);
        widths.add(row?.width);
        if (row?.width === 30) expect(row.etag).toBe((await files.head(path))?.etag);
      }
      expect(widths).toContain(30);
    });
  });
