/**
 * `DELETE /v1/assets` of 1000 ids against the object store's own removal of the same keys: what rows, watermark files and
 * variants that have to be looked for add to it. Over S3 where S3_TEST_ENDPOINT names a server, else over files.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../src/app/migrations.ts';
import { objectSource } from '../src/image/engine/sources.ts';
import { toTransform } from '../src/image/engine/specs.ts';
import { createVariantMaker } from '../src/image/engine/variants.ts';
import { createEngine } from '../src/image/engine/working.ts';
import type { MediaStores } from '../src/media/context.ts';
import { deleteAssets } from '../src/media/deletion/deletion.ts';
import type { MediaTables } from '../src/media/tables.ts';
import type { Objects } from '../src/platform/objects/objects.ts';
import { openTestCache } from '../test/caches.fixture.ts';
import { openTestDatabase } from '../test/database.fixture.ts';
import { makeImage } from '../test/media/images.fixture.ts';
import { type Planted, plant } from '../test/media/planting.fixture.ts';
import { openFiles, openPublicFiles } from '../test/media/registering.fixture.ts';
import { openTestBucket, skipWithoutS3 } from '../test/platform/objects/s3.fixture.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';

const ids = 1000;
const rounds = 9;
const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 60_000 };

export const deletion: Bench = {
  async *run() {
    const stores = await (skipWithoutS3 ? openFolders() : openBuckets());
    const database = await openTestDatabase(migrations);
    try {
      const variants = createVariantMaker({
        engine: createEngine(limits),
        keySecret: 'a key secret',
        publicObjects: stores.publicObjects,
        limits,
      });
      const deps = {
        db: database.queries<MediaTables>(),
        objects: stores.originals,
        legacy: { bucket: () => undefined },
        signedUrls: openTestCache(database),
        variants,
      } as Partial<MediaStores> as MediaStores;
      const userId = randomUUID();
      const ground = { database, originals: stores.originals, userId };
      const plantAll = async (scopes: number): Promise<readonly Planted[]> => {
        const planted: Planted[] = [];
        for (let scope = 0; scope < scopes; scope++)
          planted.push(...(await plant(ground, ids / scopes, { scopeId: randomUUID() })));
        return planted;
      };
      const measure = (scopes: number, withVariants: number) =>
        compare(
          deps,
          () => plantAll(scopes),
          (planted) => makeVariants(deps, variants, planted.slice(0, withVariants)),
        );
      const where = `the ${stores.name}'s own removal of the objects`;
      yield await claim('1000 ids of one scope, by the clock', await measure(1, 0), where);
      yield await claim('1000 ids of 20 scopes, by the clock', await measure(20, 0), where);
      yield await claim('1000 ids, 50 of them with variants, by the clock', await measure(1, 50), where);
    } finally {
      await Promise.all([database.close(), stores.close()]);
    }
  },
};

const claim = (goal: string, measured: number, against: string): Row => atMost(1.5, { goal, measured, against });

/** How many times longer ours takes; the two take turns, the first round warms up. */
async function compare(
  deps: MediaStores,
  plantAll: () => Promise<readonly Planted[]>,
  makeVariantsOf: (planted: readonly Planted[]) => Promise<unknown>,
): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const theirs = (await plantAll()).map(({ storageKey }) => storageKey);
    const their = await msOf(() => deps.objects.remove(theirs));
    const planted = await plantAll();
    await makeVariantsOf(planted);
    const request = { ids: planted.map(({ assetId }) => assetId), legacyBucket: 'none' };
    const our = await msOf(() => deleteAssets(deps, { kind: 'internal' }, request));
    console.error(`  ${Math.round(our)} ms against ${Math.round(their)} ms`);
    if (round > 0) ratios.push(our / their);
  }
  return median(ratios);
}

async function makeVariants(
  { objects }: MediaStores,
  variants: ReturnType<typeof createVariantMaker>,
  planted: readonly Planted[],
): Promise<void> {
  const bytes = await makeImage('png');
  const requested = (['webp', 'jpeg'] as const).map((format) => ({ transform: toTransform({ format, width: 20 }) }));
  for (const { storageKey } of planted) {
    await objects.put(storageKey, bytes, { contentType: 'image/png', size: bytes.length });
    await variants.ensure(objectSource(objects, storageKey), requested);
  }
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function openFolders() {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
  return {
    name: 'file system',
    originals: openFiles(folder) as Objects,
    publicObjects: openPublicFiles(folder),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

async function openBuckets() {
  const [originals, variants] = await Promise.all([openTestBucket(), openTestBucket({ isPublic: true })]);
  return {
    name: 'S3 server',
    originals: originals.objects,
    publicObjects: variants.objects,
    close: async () => {
      await Promise.all([originals.close(), variants.close()]);
    },
  };
}
