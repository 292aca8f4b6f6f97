import { join } from 'node:path';
import { expect, it } from 'vitest';
import { objectSource } from '#image/engine/sources.ts';
import { toTransform } from '#image/engine/specs.ts';
import type { MediaTables } from '#media/tables.ts';
import type { Database } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from './images.fixture.ts';
import { plant } from './planting.fixture.ts';
import { openFiles, openPublicFiles, outcomeOf, registrationDeps, uploaded } from './registering.fixture.ts';
import { hourMs, sweepAll, sweepDeps } from './sweeping.fixture.ts';

const program = join(import.meta.dirname, 'sweeping.child.ts');
const callsBetweenKills = isNightly ? 3 : 12;

onEveryDatabase('a process killed while it sweeps', (rig) => {
  /** A variant of an object that others took away. */
  async function layStray(database: Database, files: Objects): Promise<readonly string[]> {
    const [source, transform] = ['v/gone.png', toTransform({ width: 8 })];
    await files.put(source, await makeImage('png'), { contentType: 'image/png' });
    const { variants } = sweepDeps(database, rig.dataDir);
    const made = await variants.ensure(objectSource(files, source), [{ transform }]);
    await files.remove([source]);
    return made.map(({ key }) => key);
  }

  it('loses no registered object, and a later sweep completes its work', { timeout: 240_000 }, async () => {
    const before = await rig.openDatabase();
    const files = openFiles(rig.dataDir);
    const png = await makeImage('png');
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
    for (let killAt = 2; ; killAt += callsBetweenKills) {
      if ((await rig.run(program, { killAt, laterMs: 25 * hourMs })) !== undefined) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(0);

    const database = await rig.openDatabase();
    const deps = registrationDeps(database, rig.dataDir);
    try {
      if (first === undefined) throw new Error('nothing was uploaded');
      // What a dead sweep has claimed is refused, and free again.
      expect(await outcomeOf(deps, first.request)).toBe('object_not_found');
      await first.put(png);
      expect(await outcomeOf(deps, first.request)).toBe('created');
      await sweepAll(sweepDeps(database, rig.dataDir, 50 * hourMs));
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
      for await (const { key } of openPublicFiles(rig.dataDir).list('img/')) expect(strays).not.toContain(key);
      for (const { request } of others) expect(await outcomeOf(deps, request)).toBe('object_not_found');
    } finally {
      await deps.screening.close();
      await database.close();
    }
  });
});
