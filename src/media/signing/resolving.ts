/** From refs to the assets behind them, as far as the caller may read them (docs/specification/media.md#ownership). */
import type { Caller } from '#platform/access/caller.ts';
import { mayRead, mayReadPath } from '../assets/ownership.ts';
import { type AssetReference, type LookupDeps, lookUpAssets, type ResolvedAsset } from '../lookup/assetlookup.ts';

export interface ResolvingDeps extends LookupDeps {
  readonly publicScopes: readonly string[];
}

/** By ref as it was given. What does not exist, is not ready, may not be read or is no ref at all is not in it. */
export function resolveRefs(
  deps: ResolvingDeps,
  caller: Caller,
  refs: readonly string[],
  legacyBucket: string,
): Promise<ReadonlyMap<string, ResolvedAsset>> {
  // Judged before the store is asked: what is foreign costs nothing.
  return lookUpAssets(deps, refs, legacyBucket, (named) => isReadable(deps, caller, named));
}

/** Of a ready row, or of a legacy path. */
export function isReadable(deps: Pick<ResolvingDeps, 'publicScopes'>, caller: Caller, named: AssetReference): boolean {
  return 'row' in named
    ? mayRead(caller, named.row, deps.publicScopes)
    : mayReadPath(caller, named.path, deps.publicScopes);
}

/** For the resizer. A legacy file that is replaced has other addresses. */
export function sourceOf({ objects, storageKey, etag, version }: ResolvedAsset) {
  return { bucket: objects.bucket, key: storageKey, etag: etag ?? version };
}
