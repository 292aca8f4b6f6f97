/** What a sweep needs, for the tests, and how all of one is done. */
import { createVariantMaker, type VariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import type { MediaContext } from '#media/context.ts';
import { createDigester } from '#media/reading/digests.ts';
import type { SweepFinding } from '#media/sweeping/api.ts';
import { sweepCursor } from '#media/sweeping/api.ts';
import { sweepPage } from '#media/sweeping/sweep.ts';
import type { MediaTables } from '#media/tables.ts';
import type { Database } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import type { LegacyObjects, Objects } from '#platform/objects/objects.ts';
import { openTestCache } from '../caches.fixture.ts';
import { removalDeps } from './deleting.fixture.ts';
import { openPublicFiles } from './registering.fixture.ts';
import type { EnginePair } from './rig.fixture.ts';

export const hourMs = 3_600_000;

const reading = () => ({ digester: createDigester(), log: createLog({ level: 'silent' }) });

/** Over files in a folder, `later` than now: what is there by now is as old. */
export function sweepDeps(database: Database, folder: string, laterMs = 25 * hourMs) {
  return {
    ...removalDeps(database, folder),
    publicObjects: openPublicFiles(folder),
    clock: { now: () => Date.now() + laterMs },
    limits: { uploadTtlS: 3600 },
    ...reading(),
  } as unknown as SweepGround['deps'];
}

export interface SweepGround {
  readonly database: Database;
  readonly objects: Objects;
  readonly publicObjects: Objects;
  readonly legacyFiles: Objects;
  /** Of a sweep that takes place in 25 hours. */
  readonly deps: MediaContext & { readonly variants: VariantMaker };
  close(): Promise<void>;
}

/** Over engines of its own. */
export async function openSweepGround(pair: EnginePair): Promise<SweepGround> {
  const database = await pair.openDatabase();
  const stores = await pair.openObjects({ url: 'http://127.0.0.1:1', secret: deriveAddressKey('00', '11') });
  const { originals: objects, publicObjects } = stores;
  const legacy = stores.legacy as LegacyObjects;
  const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
  const engine = createEngine(limits);
  return {
    database,
    objects,
    publicObjects,
    legacyFiles: legacy.bucket(String(stores.legacyBucket)) as Objects,
    deps: {
      db: database.queries<MediaTables>(),
      signedUrls: openTestCache(database),
      objects,
      publicObjects,
      legacy,
      variants: createVariantMaker({ engine, keySecret: 'a key secret', publicObjects, limits }),
      clock: { now: () => Date.now() + 25 * hourMs },
      limits: { uploadTtlS: 3600 },
      ...reading(),
    } as unknown as SweepGround['deps'],
    close: async () => {
      await database.close();
      await stores.close();
    },
  };
}

/** Sweeps page by page, from the first page or `from`, to the end. */
export async function sweepAll(
  deps: MediaContext,
  {
    apply = true,
    acceptLostBuckets = false,
    aloneSince,
    from = null,
  }: {
    readonly apply?: boolean;
    readonly acceptLostBuckets?: boolean;
    readonly aloneSince?: Date;
    readonly from?: string | null;
  } = {},
): Promise<readonly SweepFinding[]> {
  const found: SweepFinding[] = [];
  let cursor: string | null = from;
  do {
    const at: string | null = cursor;
    const page = await sweepPage(
      deps,
      { apply, acceptLostBuckets, cursor: at === null ? undefined : sweepCursor.parse(at) },
      aloneSince,
    );
    found.push(...page.found);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}
