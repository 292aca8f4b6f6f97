/** The source of a copy, and who can copy it (docs/specification/media.md#copies). */
import type { Caller } from '#platform/access/caller.ts';
import { isUuid } from '#platform/ids.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { CopyRequest } from '../api.ts';
import { kindOfMime } from '../assets/asset.ts';
import type { AssetFacts } from '../assets/assetstore.ts';
import { assertOwnLegacyPaths } from '../assets/ownership.ts';
import { isImage } from '../assets/sizelimits.ts';
import type { MediaStores } from '../context.ts';
import { bucketOf, currentRows, lookUpAssets, type ResolvedAsset } from '../lookup/assetlookup.ts';
import { noSuchAsset } from '../problems.ts';
import { unknownFacts } from '../registration/inspection.ts';
import type { Label } from '../screening/labels.ts';
import type { Playback } from '../tables.ts';
import { findCopySource } from './copystore.ts';

export interface CopySource
  extends Pick<ResolvedAsset, 'backend' | 'objects' | 'storageKey' | 'etag' | 'mime' | 'byteSize'> {
  /** `undefined`: a legacy path without a row. */
  readonly assetId: string | undefined;
  readonly ownerId: string | undefined;
  readonly kind: string;
  readonly facts: AssetFacts;
  readonly labels: readonly Label[];
  /** Its bytes were inspected when they were uploaded, and passed their screening if they are an image. */
  readonly isScreened: boolean;
  readonly playback: Playback | null;
}

/** Checks the request alone. Throws 400 (server, legacy path, no owner) and 403 (user naming another owner, or a path of another user). */
export function assertMayCopy(caller: Caller, { fromAssetId, toOwnerId }: CopyRequest): void {
  if (caller.kind === 'user') {
    if (toOwnerId !== undefined && toOwnerId !== caller.userId)
      throw problems.forbidden({ message: 'toOwnerId must be absent or the user of the token.' });
    if (!isUuid(fromAssetId)) assertOwnLegacyPaths(caller, [fromAssetId]);
  } else if (!isUuid(fromAssetId) && toOwnerId === undefined) {
    throw invalid('body.toOwnerId', 'is required for a legacy path, which has no owner');
  }
}

/** Throws 404, and 403 if it belongs to another user, in a public scope or not. */
export async function findSource(deps: MediaStores, caller: Caller, request: CopyRequest): Promise<CopySource> {
  const { fromAssetId, legacyBucket } = request;
  const source = isUuid(fromAssetId)
    ? await findAssetSource(deps, caller, fromAssetId.toLowerCase())
    : await findLegacySource(deps, legacyBucket, fromAssetId);
  if (source === undefined) throw noSuchAsset();
  return source;
}

async function findAssetSource(deps: MediaStores, caller: Caller, assetId: string): Promise<CopySource | undefined> {
  const named = await findCopySource(deps.db, assetId);
  if (named === undefined) return undefined;
  if (caller.kind === 'user' && named.ownerId !== caller.userId)
    throw problems.forbidden({ message: 'The asset belongs to another user.' });
  const [row] = await currentRows(deps, [named]);
  const objects = row && bucketOf(deps, row);
  if (row === undefined || objects === undefined) return undefined;
  const { backend, mime, sha256, screenedAt, etag } = row;
  return {
    ...row,
    objects,
    facts: { ...row, thumbAssetId: null },
    labels: row.labels ?? [],
    // Rows from before every upload was hashed have no digests.
    isScreened: backend === 'objects' && sha256 !== null && (!isImage(mime) || screenedAt !== null),
    // Bytes that pass through this process are inspected again.
    etag: backend === 'objects' || sha256 !== null ? etag : undefined,
  };
}

async function findLegacySource(deps: MediaStores, bucket: string, path: string): Promise<CopySource | undefined> {
  const file = (await lookUpAssets(deps, [path], bucket)).get(path);
  if (file === undefined) return undefined;
  const { mime, version } = file;
  return {
    ...file,
    assetId: undefined,
    ownerId: undefined,
    kind: kindOfMime(mime),
    facts: unknownFacts(mime),
    labels: [],
    isScreened: false,
    // Only the bytes that were looked up are copied.
    etag: version,
    playback: null,
  };
}
