/** `POST /v1/sign/image`: one query for all refs, no call to the store (document 000; CONTRACT §4). */
import type { ResizeSigner } from '#edge/api.ts';
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { ImageSignedRef, ImageSignedRefs, SignRequest } from './api.ts';
import { isImage } from './limits.ts';
import { mayRead } from './ownership.ts';
import { findReadyAssets, type MediaTables } from './store.ts';

export interface SigningDeps {
  readonly db: Db<MediaTables>;
  readonly objects: Pick<Objects, 'bucket' | 'readAddress'>;
  readonly resizeAddress: ResizeSigner;
  readonly publicScopes: readonly string[];
}

type ReadyAsset = Awaited<ReturnType<typeof findReadyAssets>>[number];

/** 7 days. */
const addressValidS = 604_800;
const thumb = { width: 400, height: 400, quality: 80 };
const preview = { width: 1024, height: 1024, quality: 85 };
const notFound: ImageSignedRef = { ready: false, error: 'not_found' };
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Keyed by ref as it was given. What does not exist, is not ready, may not be read or is no ref at all is alike
 * `not_found`; so are legacy paths as long as there is no legacy backend.
 */
export async function signImages(deps: SigningDeps, caller: Caller, request: SignRequest): Promise<ImageSignedRefs> {
  const assetIds = new Set(request.refs.filter((ref) => uuid.test(ref)).map((ref) => ref.toLowerCase()));
  const rows = assetIds.size > 0 ? await findReadyAssets(deps.db, [...assetIds]) : [];
  const signed = new Map(
    rows
      .filter((row) => row.bucket === deps.objects.bucket && mayRead(caller, row, deps.publicScopes))
      .map((row) => [row.assetId, signImage(deps, row)]),
  );
  // Not by assignment: a ref may be `__proto__`.
  return Object.fromEntries(request.refs.map((ref) => [ref, signed.get(ref.toLowerCase()) ?? notFound]));
}

function signImage(deps: SigningDeps, row: ReadyAsset): ImageSignedRef {
  const { width, height, byteSize, blurhash, mime } = row;
  const url = deps.objects.readAddress(row.storageKey, { expiresInS: addressValidS, contentType: mime });
  const base = { width, height, byteSize, blurhash, mime };
  if (!isImage(mime)) return { ready: true, url, ...base, durationMs: row.durationMs };
  const source = { bucket: row.bucket, key: row.storageKey };
  return {
    ready: true,
    url,
    thumbUrl: deps.resizeAddress(source, thumb, 'webp'),
    previewUrl: deps.resizeAddress(source, preview, 'webp'),
    ...base,
    durationMs: null,
  };
}
