/** `POST /v1/sign/image`: one query for all refs, no call to the store (document 000; CONTRACT §4). */
import type { ResizeSigner } from '#edge/api.ts';
import type { Caller } from '#platform/access/caller.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { ImageSignedRef, ImageSignedRefs, SignRequest, UnresolvedRef } from './api.ts';
import { isImage } from './limits.ts';
import { type ReadyAsset, type ResolvingDeps, resolveRefs, sourceOf } from './resolving.ts';

export interface SigningDeps extends ResolvingDeps {
  readonly objects: Pick<Objects, 'bucket' | 'readAddress'>;
  readonly resizeAddress: ResizeSigner;
}

/** 7 days. */
const addressValidS = 604_800;
const thumb = { width: 400, height: 400, quality: 80 };
const preview = { width: 1024, height: 1024, quality: 85 };
const notFound: UnresolvedRef = { ready: false, error: 'not_found' };

/** Keyed by ref as it was given; what `resolveRefs` leaves out is `not_found`. */
export async function signImages(deps: SigningDeps, caller: Caller, request: SignRequest): Promise<ImageSignedRefs> {
  const found = await resolveRefs(deps, caller, request.refs);
  return answerByRef(request.refs, found, (row) => signImage(deps, row));
}

export function answerByRef<Signed>(
  refs: readonly string[],
  found: ReadonlyMap<string, ReadyAsset>,
  sign: (row: ReadyAsset) => Signed,
): Readonly<Record<string, Signed | UnresolvedRef>> {
  // Not by assignment: a ref may be `__proto__`.
  return Object.fromEntries(
    refs.map((ref) => {
      const row = found.get(ref);
      return [ref, row === undefined ? notFound : sign(row)];
    }),
  );
}

function signImage(deps: SigningDeps, row: ReadyAsset): ImageSignedRef {
  const { width, height, byteSize, blurhash, mime } = row;
  const url = originalAddress(deps, row);
  const base = { width, height, byteSize, blurhash, mime };
  if (!isImage(mime)) return { ready: true, url, ...base, durationMs: row.durationMs };
  return {
    ready: true,
    url,
    thumbUrl: thumbAddress(deps, row),
    previewUrl: deps.resizeAddress(sourceOf(row), preview, 'webp'),
    ...base,
    durationMs: null,
  };
}

export function originalAddress(deps: Pick<SigningDeps, 'objects'>, row: ReadyAsset): string {
  return deps.objects.readAddress(row.storageKey, {
    expiresInS: addressValidS,
    contentType: row.mime,
    // What was screened, or nothing.
    etag: row.etag,
  });
}

/** Of images. */
export function thumbAddress(deps: Pick<SigningDeps, 'resizeAddress'>, row: ReadyAsset): string {
  return deps.resizeAddress(sourceOf(row), thumb, 'webp');
}
