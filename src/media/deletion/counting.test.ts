import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { defaultLegacyBucket, type Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { openLegacyFiles, removalDeps } from '../../../test/media/deleting.fixture.ts';
import { plant } from '../../../test/media/planting.fixture.ts';
import { assetsDeletion } from '../api.ts';
import type { MediaContext } from '../context.ts';
import { claimFiles } from './countingstore.ts';
import { countDeletedFiles, deleteAssets } from './deletion.ts';
import { countObjects } from './removal.ts';

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`counting what is deleted, on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let deps: MediaContext;
    let files: Objects;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-count-'));
      database = await engine.open(migrations);
      deps = removalDeps(database, folder);
      files = openLegacyFiles(folder).bucket(defaultLegacyBucket) as Objects;
    });
    afterAll(async () => {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    });

    const laid = async (count: number) => {
      const paths = Array.from({ length: count }, () => `${randomUUID()}/a.bin`);
      await Promise.all(paths.map((path) => files.put(path, Buffer.from('x'), { contentType: 'text/plain' })));
      return paths;
    };
    const remove = (ids: readonly string[], with_ = deps) =>
      deleteAssets(with_, { kind: 'internal' }, assetsDeletion.parse({ ids }));

    it('a file is counted once, even if concurrent calls delete it', async () => {
      for (let round = 0; round < 10; round++) {
        const paths = await laid(4);
        // Each of them, all of them, in either order.
        const asked = [...paths.map((path) => [path]), paths, paths.toReversed(), paths];
        const answers = await Promise.all(asked.map((ids) => remove(ids)));
        expect(answers.reduce((sum, { deletedLegacy }) => sum + deletedLegacy, 0)).toBe(4);
        expect(await Promise.all(paths.map((path) => files.head(path)))).toEqual([
          undefined,
          undefined,
          undefined,
          undefined,
        ]);
      }
    });

    it('a file is counted by the first call, also when another call removed it before the lookup', async () => {
      const [path = ''] = await laid(1);
      const { promise: overtaken, resolve: goOn } = Promise.withResolvers<void>();
      const late: Objects = Object.create(files, {
        head: { value: (key: string) => overtaken.then(() => files.head(key)) },
      });
      const first = countDeletedFiles(deps, late, [path], async () => undefined);
      const db = database.queries<{ legacy_removals: { path: string } }>();
      await expect.poll(() => db.selectFrom('legacy_removals').selectAll().execute()).toHaveLength(1);
      const second = await countDeletedFiles(deps, files, [path], () => files.remove([path]));
      goOn();
      expect([(await first).count, second.count]).toEqual([1, 0]);
    });

    it('a failed call, or one whose process died, does not block the count', async () => {
      const [path = '', other = ''] = await laid(2);
      const variants = { forgetAll: () => Promise.reject(problems.engine_unavailable()) };
      await expect(remove([path], { ...deps, variants } as unknown as MediaContext)).rejects.toThrow(
        problems.engine_unavailable().message,
      );
      await files.put(path, Buffer.from('x'), { contentType: 'text/plain' });
      expect(await remove([path])).toEqual({ deletedNew: 0, deletedLegacy: 1 });

      const db = database.queries<{ legacy_removals: { claimed_at: Date; path: string } }>();
      expect(await claimFiles(deps.db, files.bucket, [other], randomUUID())).toEqual([other]);
      expect(await claimFiles(deps.db, files.bucket, [other], randomUUID())).toEqual([]);
      await db
        .updateTable('legacy_removals')
        .set({ claimed_at: new Date(Date.now() - 121_000) })
        .where('path', '=', other)
        .execute();
      expect((await remove([other])).deletedLegacy).toBe(1);
      expect(await db.selectFrom('legacy_removals').selectAll().execute()).toEqual([]);
    });

    it('objects are counted in the order in which stores list: by bytes', async () => {
      const start = `u/${randomUUID()}/`;
      // UTF-16 has the face before the wave, UTF-8 after it.
      const wanted = ['\u{FF5E}', '\u{1F600}'].map((name) => start + name);
      const others = ['\u{FF5E}x', '\u{1F5FF}'].map((name) => start + name);
      for (const key of [...wanted, ...others])
        await deps.objects.put(key, Buffer.from('x'), { contentType: 'text/plain' });
      const placesOf = (keys: readonly string[]) =>
        keys.map((storageKey) => ({ backend: 'objects', bucket: deps.objects.bucket, storageKey }) as const);
      expect(await countObjects(deps, placesOf(wanted))).toEqual({ objects: 2, legacy: 0 });
      // Both begin with the same half of a character.
      expect(await countObjects(deps, placesOf([`${start}\u{1F5FF}`, `${start}\u{1F5FE}`]))).toEqual({
        objects: 1,
        legacy: 0,
      });
      const planted = await plant({ database, originals: deps.objects }, 3, { beside: ['.wm.jpg'] });
      expect(await countObjects(deps, placesOf(planted.map(({ storageKey }) => storageKey)))).toEqual({
        objects: 6,
        legacy: 0,
      });
    });
  });
