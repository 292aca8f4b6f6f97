import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { removalDeps } from '../../../test/media/deleting.fixture.ts';
import { plant } from '../../../test/media/planting.fixture.ts';
import type { MediaContext } from '../context.ts';
import { countObjects } from './removal.ts';

for (const engine of laneEngines)
  describe.skipIf(engine.missing)(`counting what is deleted, on ${engine.name}`, () => {
    let folder: string;
    let database: Database;
    let deps: MediaContext;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-count-'));
      database = await engine.open(migrations);
      deps = removalDeps(database, folder);
    });
    afterAll(async () => {
      await database.close();
      await rm(folder, { recursive: true, force: true });
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
