/** Deletions of legacy files, failed and interrupted at every moment. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { defaultBrand } from '#image/engine/brand.ts';
import type { Database } from '#platform/db/db.ts';
import { defaultLegacyBucket, type Objects } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { openLegacyFiles, removalDeps } from '../../../test/media/deleting.fixture.ts';
import { interrupted } from '../../../test/media/interruption.fixture.ts';
import { plant } from '../../../test/media/planting.fixture.ts';
import { registrationDeps } from '../../../test/media/registering.fixture.ts';
import { assetsDeletion, type ImageSignedRefs, legacyImport, scopeDeletion } from '../api.ts';
import { findDeletableAt, findDeletableOf } from '../assets/assetstore.ts';
import type { MediaContext, ScreeningContext } from '../context.ts';
import { importFile } from '../registration/importing.ts';
import { deleteScope } from '../scopes/scopedeletion.ts';
import { signImages } from '../signing/signing.ts';
import { deleteAssets } from './deletion.ts';

const server = { kind: 'internal' } as const;
/** More steps than any operation here has. */
const manyMoments = 80;

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`a deletion of legacy files on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let files: Objects;
    let deps: MediaContext;
    let importing: ScreeningContext;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-legacy-'));
      database = await engine.open(migrations);
      deps = removalDeps(database, folder);
      const bucket = openLegacyFiles(folder).bucket(defaultLegacyBucket);
      if (bucket === undefined) throw new Error('there is no legacy bucket');
      files = bucket;
      importing = { ...registrationDeps(database, folder), legacy: deps.legacy };
    });
    afterAll(async () => {
      await importing.screening.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    const put = (path: string) => files.put(path, Buffer.from('x'), { contentType: 'text/plain' });
    const importOf = (ownerId: string, path: string) =>
      importFile(importing, legacyImport.parse({ ownerId, scopeKind: 'thread', scopeId: '1', path }));

    /** Two loose files with watermark files, and two registered ones, all of one owner. */
    async function lay() {
      const ownerId = randomUUID();
      const loose = [`${ownerId}/a.bin`, `${ownerId}/b.bin`];
      for (const path of loose) await Promise.all([path, `${path}.wm.jpg`, `${path}.wm.mp4`].map(put));
      const planted = await plant({ database, originals: files }, 2, {
        ownerId,
        backend: 'legacy',
        beside: ['.wm.jpg'],
      });
      return { ownerId, loose, assetIds: planted.map(({ assetId }) => assetId) };
    }
    type Laid = Awaited<ReturnType<typeof lay>>;

    async function left({ ownerId, loose }: Laid) {
      const rows = await findDeletableOf(deps.db, { ownerId, scopeKind: undefined, scopeId: undefined }, undefined, 10);
      const keys = [...loose, ...rows.map(({ storageKey }) => storageKey)];
      const standing = await Promise.all(keys.map((key) => files.head(key)));
      return { rows: rows.length, files: standing.filter((head) => head !== undefined).length };
    }

    type DeletionCall = (deps: MediaContext, laid: Laid) => Promise<unknown>;
    const deletions: Record<string, DeletionCall> = {
      'by path and id': (with_, { loose, assetIds }) =>
        deleteAssets(with_, server, assetsDeletion.parse({ ids: [...loose, ...assetIds] })),
      'by prefix and scope': (with_, { ownerId }) =>
        deleteScope(with_, server, scopeDeletion.parse({ ownerId, legacyPrefixes: [`${ownerId}/`, `u/${ownerId}/`] })),
    };
    const outcomeOf = async (deed: DeletionCall, with_: MediaContext, laid: Laid) =>
      deed(with_, laid).then(
        () => 'done',
        (error: unknown) => {
          if (error instanceof Problem) return error.code;
          throw error;
        },
      );

    describe.each(Object.entries(deletions))('%s', (name, deed) => {
      it('that fails at any step preserves the rows of remaining files, and can be repeated', {
        timeout: 60_000,
      }, async () => {
        const calls = new Set<string>();
        let outcomes = 0;
        for (let failAt = 1; failAt < manyMoments; failAt++) {
          const laid = await lay();
          let hasFailed = false;
          const failing = interrupted(deps, ({ number, call }) => {
            if (number !== failAt) return;
            hasFailed = true;
            calls.add(call);
            throw problems.engine_unavailable();
          });
          const outcome = await outcomeOf(deed, failing, laid);
          const after = await left(laid);
          // A file whose row is gone is gone.
          if (after.rows === 0) expect(after.files).toBeLessThanOrEqual(laid.loose.length);
          if (!hasFailed) {
            expect([outcome, after]).toEqual(['done', { rows: 0, files: 0 }]);
            break;
          }
          // Prefixes are best effort: files below them may remain without an error.
          if (name === 'by path and id') expect(outcome).toBe('engine_unavailable');
          if (outcome === 'done') expect(after.rows).toBe(0);
          outcomes += 1;
          expect(await outcomeOf(deed, deps, laid)).toBe('done');
          expect(await left(laid)).toEqual({ rows: 0, files: 0 });
        }
        expect([...calls]).toEqual(
          expect.arrayContaining(['before remove', 'after remove', 'before forgetAll', 'before query', 'before head']),
        );
        expect(outcomes).toBeLessThan(manyMoments - 1);
      });

      it('preserves every row if one registered file cannot be removed', async () => {
        const laid = await lay();
        const [row] = await findDeletableOf(
          deps.db,
          { ownerId: laid.ownerId, scopeKind: undefined, scopeId: undefined },
          undefined,
          1,
        );
        const stuck = String(row?.storageKey);
        const sticky = stickyDeps(deps, stuck);
        expect(await outcomeOf(deed, sticky, laid)).toBe('engine_unavailable');
        expect((await left(laid)).rows).toBe(2);
        expect(await outcomeOf(deed, deps, laid)).toBe('done');
        expect(await left(laid)).toEqual({ rows: 0, files: 0 });
      });

      it('with a concurrent signature of the file: it exists, or is not found', {
        timeout: 60_000,
      }, async () => {
        const seen = new Set<unknown>();
        const laid = await lay();
        const refs = [...laid.loose, ...laid.assetIds];
        const signing = {
          ...deps,
          legacy: { bucket: () => ({ ...files, readAddress: (key: string) => key }) },
          resizeAddress: () => '',
          brand: defaultBrand,
          publicScopes: [],
          addressing: '',
        } as unknown as MediaContext;
        const sign = async () => {
          const json = await signImages(signing, server, { refs, legacyBucket: defaultLegacyBucket });
          const answers: ImageSignedRefs = JSON.parse(String(json));
          return refs.map((ref) => answers[ref]?.ready);
        };
        const watching = interrupted(deps, async ({ call }) => {
          // Within a transaction, this process cannot sign.
          if (!/query$|^in a transaction$/.test(call)) seen.add(JSON.stringify(await sign()));
        });
        expect(await outcomeOf(deed, watching, laid)).toBe('done');
        expect(await sign()).toEqual([false, false, false, false]);
        expect(seen).toContain('[true,true,true,true]');
        expect(seen.size).toBeGreaterThan(1);
      });
    });

    it('by prefix of which one loose file cannot be removed is done, and removes the others', async () => {
      const laid = await lay();
      const logged: unknown[] = [];
      const sticky = {
        ...stickyDeps(deps, String(laid.loose[0])),
        log: { warn: (facts: unknown) => logged.push(facts) },
      } as unknown as MediaContext;
      const request = scopeDeletion.parse({ ownerId: laid.ownerId, legacyPrefixes: [`${laid.ownerId}/`] });
      expect(await deleteScope(sticky, server, request)).toEqual({ r2Deleted: 0, legacyDeleted: 9, dbDeleted: 2 });
      expect(await left(laid)).toEqual({ rows: 0, files: 1 });
      expect(logged).toEqual([{ count: 1, reason: 'AccessDenied' }]);
    });

    it('by prefix without a legacy store deletes the rows of the database', async () => {
      const ownerId = randomUUID();
      await plant({ database, originals: deps.objects }, 1, { ownerId });
      const down = async () => {
        throw problems.engine_unavailable();
      };
      const list = () => {
        throw problems.engine_unavailable();
      };
      const legacy = { bucket: () => ({ ...files, head: down, remove: down, list }) };
      const request = scopeDeletion.parse({ ownerId, legacyPrefixes: [`${ownerId}/`] });
      expect(await deleteScope({ ...deps, legacy }, server, request)).toEqual({
        r2Deleted: 1,
        legacyDeleted: 0,
        dbDeleted: 1,
      });
      const ids = assetsDeletion.parse({ ids: [`${ownerId}/a.jpg`] });
      await expect(deleteAssets({ ...deps, legacy }, server, ids)).rejects.toMatchObject({
        code: 'engine_unavailable',
      });
    });

    it('by path, in which the file is registered at any moment, leaves no row', { timeout: 60_000 }, async () => {
      const outcomes = new Set<string>();
      for (let workAt = 1; workAt < manyMoments; workAt++) {
        const path = `${randomUUID()}/a.bin`;
        await put(path);
        let hasWorked = false;
        const deleting = interrupted(deps, async ({ number, call }) => {
          if (hasWorked || number < workAt || call === 'before query') return;
          hasWorked = true;
          outcomes.add(
            await importOf(randomUUID(), path).then(
              () => 'created',
              (error: Problem) => error.code,
            ),
          );
        });
        await deleteAssets(deleting, server, assetsDeletion.parse({ ids: [path] }));
        expect(await findDeletableAt(deps.db, files.bucket, [path])).toEqual([]);
        expect(await files.head(path)).toBeUndefined();
        if (!hasWorked) break;
      }
      expect([...outcomes].sort()).toEqual(['created', 'not_found']);
    });

    it('by path at any moment of an import leaves no row', { timeout: 60_000 }, async () => {
      const outcomes = new Set<string>();
      for (let deleteAt = 1; deleteAt < manyMoments; deleteAt++) {
        const path = `${randomUUID()}/a.bin`;
        await put(path);
        let hasDeleted = false;
        const watched = interrupted(importing, async ({ number, call }) => {
          if (hasDeleted || number < deleteAt || ['before query', 'in a transaction'].includes(call)) return;
          hasDeleted = true;
          await deleteAssets(deps, server, assetsDeletion.parse({ ids: [path] }));
        });
        const request = legacyImport.parse({ ownerId: randomUUID(), scopeKind: 'thread', scopeId: '1', path });
        outcomes.add(
          await importFile(watched, request).then(
            () => 'created',
            (error: Problem) => error.code,
          ),
        );
        if (!hasDeleted) break;
        expect(await findDeletableAt(deps.db, files.bucket, [path])).toEqual([]);
      }
      expect([...outcomes].sort()).toEqual(['created', 'not_found']);
    });

    it('pages over rows of one path in several buckets, and misses none', async () => {
      const ownerId = randomUUID();
      const buckets = ['agent_message', 'another', 'third'];
      for (const bucket of buckets) {
        const objects = deps.legacy.bucket(bucket);
        await objects?.put(`${ownerId}/same.bin`, Buffer.from('x'), { contentType: 'text/plain' });
        const request = {
          ownerId,
          scopeKind: 'thread',
          scopeId: '1',
          legacyBucket: bucket,
          path: `${ownerId}/same.bin`,
        };
        expect((await importFile(importing, legacyImport.parse(request))).created).toBe(true);
      }
      const scope = { ownerId, scopeKind: undefined, scopeId: undefined };
      const seen: string[] = [];
      for (let after: Awaited<ReturnType<typeof findDeletableOf>>[number] | undefined; ; ) {
        const [row] = await findDeletableOf(deps.db, scope, after, 1);
        if (row === undefined) break;
        seen.push(row.bucket);
        after = row;
      }
      expect(seen.sort()).toEqual(buckets);
      const { dbDeleted, legacyDeleted } = await deleteScope(deps, server, scopeDeletion.parse({ ownerId }));
      expect([dbDeleted, legacyDeleted]).toEqual([3, 3]);
    });
  });

/** One key of every legacy bucket cannot be removed. */
function stickyDeps(deps: MediaContext, stuck: string): MediaContext {
  const stick = (objects: Objects): Objects => ({
    ...objects,
    remove: async (keys) => {
      const { removed, failed } = await objects.remove(keys.filter((key) => key !== stuck));
      return { removed, failed: keys.includes(stuck) ? [...failed, { key: stuck, reason: 'AccessDenied' }] : failed };
    },
  });
  return {
    ...deps,
    legacy: {
      bucket: (name) => {
        const objects = deps.legacy.bucket(name);
        return objects && stick(objects);
      },
    },
  };
}
