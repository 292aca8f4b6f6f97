/** Resolves references to the assets that the caller can read (docs/specification/media.md#ownership). */
import type { Caller } from '#platform/access/caller.ts';
import { mayRead, mayReadPath } from '../assets/ownership.ts';
import type { MediaContext } from '../context.ts';
import { type AssetReference, lookUpAssets, type ResolvedAsset } from '../lookup/assetlookup.ts';

/** Keyed by reference, as in the request. Omits references that are invalid, unknown, not ready or not readable. */
export function resolveRefs(
  deps: MediaContext,
  caller: Caller,
  refs: readonly string[],
  legacyBucket: string,
): Promise<ReadonlyMap<string, ResolvedAsset>> {
  // Checked before the lookup, so that paths of other users cost no request.
  return lookUpAssets(deps, refs, legacyBucket, (named) => isReadable(deps, caller, named));
}

/** Of a ready row, or of a legacy path. */
export function isReadable(deps: MediaContext, caller: Caller, named: AssetReference): boolean {
  return 'row' in named
    ? mayRead(caller, named.row, deps.publicScopes)
    : mayReadPath(caller, named.path, deps.publicScopes);
}

/** For the resizer. A legacy file that is replaced gets other URLs. */
export function sourceOf({ objects, storageKey, etag, version }: ResolvedAsset) {
  return { bucket: objects.bucket, key: storageKey, etag: etag ?? version };
}
