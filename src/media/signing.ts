/** `POST /v1/sign/image`: one query for all refs, no call to the store but for legacy files (document 000; CONTRACT §4). */
import type { ResizeSigner } from '#edge/api.ts';
import type { Caller } from '#platform/access/caller.ts';
import type { ImageSignedRef, ImageSignedRefs, SignRequest, UnresolvedRef } from './api.ts';
import { isImage } from './limits.ts';
import type { Located } from './locating.ts';
import { type ResolvingDeps, resolveRefs, sourceOf } from './resolving.ts';

export interface SigningDeps extends ResolvingDeps {
  readonly resizeAddress: ResizeSigner;
}

/** 7 days. */
const addressValidS = 604_800;
const thumb = { width: 400, height: 400, quality: 80 };
const preview = { width: 1024, height: 1024, quality: 85 };
const notFound: UnresolvedRef = { ready: false, error: 'not_found' };

/** Keyed by ref as it was given; what `resolveRefs` leaves out is `not_found`. */
export async function signImages(deps: SigningDeps, caller: Caller, request: SignRequest): Promise<ImageSignedRefs> {
  const found = await resolveRefs(deps, caller, request.refs, request.legacyBucket);
  return answerByRef(request.refs, found, (row) => signImage(deps, row));
}

export function answerByRef<Signed>(
  refs: readonly string[],
  found: ReadonlyMap<string, Located>,
  sign: (row: Located) => Signed,
): Readonly<Record<string, Signed | UnresolvedRef>> {
  // Not by assignment: a ref may be `__proto__`.
  return Object.fromEntries(
    refs.map((ref) => {
      const row = found.get(ref);
      return [ref, row === undefined ? notFound : sign(row)];
    }),
  );
}

function signImage(deps: SigningDeps, row: Located): ImageSignedRef {
  const { width, height, byteSize, blurhash, mime } = row;
  const url = originalAddress(row);
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

/** For 7 days: what was screened, or nothing. */
export function originalAddress({
  objects,
  storageKey,
  mime,
  etag,
}: Pick<Located, 'objects' | 'storageKey' | 'mime' | 'etag'>): string {
  return objects.readAddress(storageKey, { expiresInS: addressValidS, contentType: mime, etag });
}

/** Of images. */
export function thumbAddress(deps: Pick<SigningDeps, 'resizeAddress'>, row: Located): string {
  return deps.resizeAddress(sourceOf(row), thumb, 'webp');
}
