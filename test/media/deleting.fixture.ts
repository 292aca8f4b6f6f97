/** What a deletion needs, over files in a folder, for the tests. */
import { randomUUID } from 'node:crypto';
import type { VariantMaker } from '#image/engine/variants.ts';
import { createVariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import { assetsDeletion, scopeDeletion } from '#media/api.ts';
import type { MediaContext } from '#media/context.ts';
import { deleteAssets } from '#media/deletion/deletion.ts';
import { deleteScope } from '#media/scopes/scopedeletion.ts';
import type { MediaTables } from '#media/tables.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import type { LegacyObjects } from '#platform/objects/objects.ts';
import { openLegacyObjects } from '#platform/objects/open.ts';
import { Problem } from '#platform/problem.ts';
import { openTestCache } from '../caches.fixture.ts';
import { type Ground, type Planted, plant, remaining } from './planting.fixture.ts';
import { openFiles, openPublicFiles } from './registering.fixture.ts';

/** Buckets below `legacy/`. */
export function openLegacyFiles(folder: string): Pick<LegacyObjects, 'bucket'> {
  return openLegacyObjects({
    settings: { endpoint: 'embedded', region: undefined, accessKeyId: undefined, secretAccessKey: undefined },
    ownBuckets: ['objects', 'public'],
    dataDir: folder,
    clock: systemClock,
  });
}

export function removalDeps(database: Database, folder: string) {
  const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
  return {
    db: database.queries<MediaTables>(),
    jobs: createJobs({ database, log: createLog({ level: 'silent' }) }),
    signedUrls: openTestCache(database),
    objects: openFiles(folder),
    legacy: openLegacyFiles(folder),
    log: { warn: () => undefined },
    variants: createVariantMaker({
      engine: createEngine(limits),
      keySecret: 'a key secret',
      publicObjects: openPublicFiles(folder),
      limits,
    }),
  } as unknown as MediaContext & { readonly variants: VariantMaker };
}

/** One of the two deletions, of everything that belongs to a video: by id, or as everything of its owner. */
export type DeletionKind = 'assets' | 'scope';

export interface DeletionOf {
  readonly ownerId: string;
  readonly assetIds: readonly string[];
}

/** How many rows it deleted, or the code of the problem. */
export async function deletionOutcome(deps: MediaContext, deed: DeletionKind, what: DeletionOf): Promise<string> {
  const server = { kind: 'internal' } as const;
  try {
    if (deed === 'scope') {
      const { dbDeleted } = await deleteScope(deps, server, scopeDeletion.parse({ ownerId: what.ownerId }));
      return String(dbDeleted);
    }
    const { deletedNew } = await deleteAssets(deps, server, assetsDeletion.parse({ ids: what.assetIds }));
    return String(deletedNew);
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** An image, and a video with its thumbnail, all with watermark files; `assetIds` names all but the thumbnail. */
export async function plantVideo(ground: Ground) {
  const ownerId = randomUUID();
  const thumbs = await plant(ground, 1, { ownerId, beside: ['.wm.jpg'] });
  const video = { ownerId, mime: 'video/mp4', thumbAssetId: thumbs[0]?.assetId, beside: ['.wm.mp4'] };
  const named = [...(await plant(ground, 1, video)), ...(await plant(ground, 1, { ownerId, beside: ['.wm.jpg'] }))];
  return { ownerId, all: [...thumbs, ...named], named, assetIds: named.map(({ assetId }) => assetId) };
}

/** Rows may be without objects: a repeat drops them. Objects without a row would stay for ever. */
export async function rowsOfAll(ground: Ground, planted: readonly Planted[]): Promise<number> {
  let rows = 0;
  for (const one of planted) {
    const left = await remaining(ground, [one]);
    if (left.rows < 1 && left.objects > 0) throw new Error(`${one.storageKey} has no row, but objects`);
    rows += left.rows;
  }
  return rows;
}
