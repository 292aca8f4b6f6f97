/**
 * What a start on a copy of a data folder adds: 10,000 rows compared with their files, against reading these files. And
 * the start after it.
 */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../src/app/migrations.ts';
import type { MediaStores } from '../src/media/context.ts';
import { createReconciler } from '../src/media/reconciling/reconciling.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { createMemoryCache } from '../src/platform/cache/memory.ts';
import { mapConcurrently } from '../src/platform/concurrency/mapconcurrently.ts';
import type { Database } from '../src/platform/db/db.ts';
import { createLog } from '../src/platform/log.ts';
import { openTestDatabase } from '../test/database.fixture.ts';
import { type Planted, plant } from '../test/media/planting.fixture.ts';
import { openFiles } from '../test/media/registering.fixture.ts';
import { pattern } from '../test/platform/objects/objects.fixture.ts';
import { atMost, type Bench } from './bench.ts';
import { compareCpu } from './rounds.ts';

const rounds = 7;
const objects = 10_000;
const objectBytes = 64 * 1024;
const rowsAtOnce = 1000;
const readsAtOnce = 4;

export const dataFolder: Bench = {
  run: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-datafolder-'));
    const database = await openTestDatabase(migrations);
    try {
      const planted = await fill(database, join(folder, 'data'));
      await start(database, join(folder, 'data'));
      let copies = 0;
      const copy = () => join(folder, `copy-${copies}`);
      const readAll = () =>
        mapConcurrently(planted, readsAtOnce, ({ storageKey }) => readFile(join(copy(), 'objects', storageKey)));
      const copyAgain = async () => {
        await rm(copy(), { recursive: true, force: true });
        copies += 1;
        await cp(join(folder, 'data'), copy(), { recursive: true });
        await readAll();
      };
      await copyAgain();
      const spent = await compareCpu(
        rounds,
        {
          reading: { work: readAll },
          copied: { prepare: copyAgain, work: () => start(database, copy(), 'compared the data folder with its rows') },
          again: { prepare: () => start(database, copy()), work: () => start(database, copy()) },
        },
        1,
      );
      return [
        atMost(2, {
          goal: 'first start on a copied folder of 10,000 objects: what it adds, by processor',
          measured: spent.ratio('copied', 'reading'),
          against: `reading their bytes, ${readsAtOnce} at a time`,
        }),
        atMost(0.05, {
          goal: 'the next start on the copy, by processor',
          measured: spent.ratio('again', 'reading'),
          against: 'the same',
        }),
      ];
    } finally {
      await database.close();
      await rm(folder, { recursive: true });
    }
  },
};

/** What a start does about the folder, until `message` is logged; without one until it would serve. */
async function start(database: Database, dataDir: string, message?: string): Promise<void> {
  const logged = Promise.withResolvers<void>();
  const stores = {
    objects: openFiles(dataDir),
    legacy: { bucket: () => undefined },
    db: database.queries<MediaTables>(),
    signedUrls: createMemoryCache({ maxBytes: 1000 }),
    log: createLog({
      level: 'info',
      destination: { write: (line) => void (message !== undefined && line.includes(message) && logged.resolve()) },
    }),
  } as Partial<MediaStores> as MediaStores;
  const reconciler = createReconciler(stores, { dataDir, backends: ['objects'] });
  await reconciler.begin();
  if (message !== undefined) await logged.promise;
  await reconciler.end();
}

async function fill(database: Database, dataDir: string): Promise<readonly Planted[]> {
  const bytes = pattern(objectBytes, 1);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const ground = { database, originals: openFiles(dataDir) };
  const planted: Planted[] = [];
  for (let done = 0; done < objects; done += rowsAtOnce)
    planted.push(...(await plant(ground, rowsAtOnce, { bytes, sha256 })));
  return planted;
}
