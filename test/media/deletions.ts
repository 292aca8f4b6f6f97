/** What a deletion needs, over files in a folder, for the tests. */
import { join } from 'node:path';
import { createVariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import { assetsDeletion, scopeDeletion } from '#media/api.ts';
import { deleteAssets } from '#media/deletion.ts';
import type { RemovalDeps } from '#media/removal.ts';
import { deleteScope } from '#media/scopedeletion.ts';
import type { MediaTables } from '#media/store.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { openFilesystem } from '#platform/objects/filesystem.ts';
import { Problem } from '#platform/problem.ts';
import { openFiles } from './registrations.ts';

export function openPublicFiles(folder: string) {
  const stagingFolder = join(folder, 'incoming');
  return openFilesystem({ bucket: 'public', root: join(folder, 'public'), stagingFolder, clock: systemClock });
}

export function removalDeps(database: Database, folder: string): RemovalDeps {
  const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
  return {
    db: database.queries<MediaTables>(),
    objects: openFiles(folder),
    variants: createVariantMaker({
      engine: createEngine(limits),
      keySecret: 'a key secret',
      publicObjects: openPublicFiles(folder),
      limits,
    }),
  };
}

/** One of the two deletions, of everything that belongs to a video: by id, or as everything of its owner. */
export type Deed = 'assets' | 'scope';

export interface DeletionOf {
  readonly ownerId: string;
  readonly assetIds: readonly string[];
}

/** How many rows it deleted, or the code of the problem. */
export async function deletionOutcome(deps: RemovalDeps, deed: Deed, what: DeletionOf): Promise<string> {
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
