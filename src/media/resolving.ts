/** From refs to the assets behind them, as far as the caller may read them (CONTRACT §4). */
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { mayRead } from './ownership.ts';
import { isUuid } from './refs.ts';
import { findReadyAssets, type MediaTables } from './store.ts';

export interface ResolvingDeps {
  readonly db: Db<MediaTables>;
  readonly objects: Pick<Objects, 'bucket'>;
  readonly publicScopes: readonly string[];
}

export type ReadyAsset = Awaited<ReturnType<typeof findReadyAssets>>[number];

/**
 * By ref as it was given, in one query. What does not exist, is not ready, may not be read or is no ref at all is not
 * in it; so are legacy paths as long as there is no legacy backend.
 */
export async function resolveRefs(
  deps: ResolvingDeps,
  caller: Caller,
  refs: readonly string[],
): Promise<ReadonlyMap<string, ReadyAsset>> {
  const assetIds = new Set(refs.filter(isUuid).map((ref) => ref.toLowerCase()));
  const rows = assetIds.size > 0 ? await findReadyAssets(deps.db, [...assetIds]) : [];
  const readable = new Map(rows.filter((row) => isReadable(deps, caller, row)).map((row) => [row.assetId, row]));
  return new Map(
    refs.flatMap((ref) => {
      const row = readable.get(ref.toLowerCase());
      return row === undefined ? [] : [[ref, row]];
    }),
  );
}

/** Of a ready row. */
export function isReadable(
  deps: ResolvingDeps,
  caller: Caller,
  row: Pick<ReadyAsset, 'bucket' | 'ownerId' | 'scopeKind'>,
): boolean {
  return row.bucket === deps.objects.bucket && mayRead(caller, row, deps.publicScopes);
}

/** For the resizer. */
export function sourceOf({ bucket, storageKey, etag }: ReadyAsset) {
  return { bucket, key: storageKey, etag };
}
