/** `POST /v1/sign/image`: one query for all refs, and calls to the store only for legacy files (docs/specification/media.md#signing). */
import type { Brand } from '#image/engine/brand.ts';
import { EnlargementFault, type Transform } from '#image/engine/engine.ts';
import { decodableFormats, isDecodable } from '#image/engine/formats.ts';
import { planSize } from '#image/engine/geometry.ts';
import { asVariantProblem } from '#image/engine/problems.ts';
import { objectSource } from '#image/engine/sources.ts';
import { preview, thumbnail, toTransform } from '#image/engine/specs.ts';
import type { Caller } from '#platform/access/caller.ts';
import { invalid } from '#platform/problem.ts';
import type { FitRequest, FittedImage, ImageSignedRef } from '../api.ts';
import { extensionOf, partsOfKey, sourceKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { type ResolvedAsset, resolveRefs, sourceOf } from '../lookup/assetlookup.ts';
import { noSuchAsset } from '../problems.ts';
import { joinSigned, type SigningRequest, signWithCache } from './signedurlcache.ts';

/** A file name, or `true` for one with the brand's name. `undefined`: the browser can show the file. */
export type Download = string | true | undefined;

/** 7 days. */
const addressValidS = 604_800;

/** The JSON of ImageSignedRefs, keyed by ref as in the request. References that `resolveRefs` omits are `not_found`. */
export async function signImages(deps: MediaContext, caller: Caller, request: SigningRequest): Promise<Buffer> {
  const responses = await signWithCache(deps, caller, 'image', request, async (refs) => {
    const found = await resolveRefs(deps, caller, refs, request.legacyBucket);
    return new Map(
      [...found].map(([ref, resolved]) => [ref, { resolved, response: signImage(deps, resolved, request.download) }]),
    );
  });
  return joinSigned(request.refs, responses);
}

function signImage(deps: MediaContext, row: ResolvedAsset, download: Download): ImageSignedRef {
  const { width, height, byteSize, blurhash, mime } = row;
  const url = originalAddress(deps, row, download);
  // Always `null` in image signing responses (docs/specification/media.md#signing).
  const base = {
    ...{ width, height, byteSize, durationMs: null, blurhash, mime },
    ...{ animated: row.row?.animated ?? null, generated: row.row?.generated ?? null },
    ...(row.row?.isTrashed && { trashed: true as const }),
  };
  if (!isDecodable(mime)) return { ready: true, url, ...base };
  // One object, so that the signer writes it once.
  const source = sourceOf(row);
  const thumbUrl = deps.resizeAddress(source, thumbnail, 'webp');
  const previewUrl = deps.resizeAddress(source, preview, 'webp');
  return { ready: true, url, thumbUrl, previewUrl, ...base };
}

/** Valid for 7 days, for the bytes that were screened only. */
export function originalAddress(
  { brand }: MediaContext,
  { objects, storageKey, mime, etag }: Pick<ResolvedAsset, 'objects' | 'storageKey' | 'mime' | 'etag'>,
  download: Download,
): string {
  return objects.readAddress(storageKey, {
    expiresInS: addressValidS,
    contentType: mime,
    etag,
    ...(download && { download: download === true ? fileNameOf(brand, storageKey, mime) : download }),
  });
}

/** Characters that a file system rejects. */
const unsafe = /[\p{C}\\/:*?"<>|]/gu;
const longestStem = 80;

/** The brand, and the start of the asset's id or the name of the legacy file. */
function fileNameOf({ name }: Brand, storageKey: string, mime: string): string {
  const file = storageKey.slice(storageKey.lastIndexOf('/') + 1);
  const stem = (
    partsOfKey(sourceKeyOf('objects', storageKey))?.assetId.slice(0, 8) ?? file.replace(/\.[^.]*$/, '')
  ).slice(0, longestStem);
  return `${`${name} ${stem}`.toWellFormed().replaceAll(unsafe, '')}.${extensionOf(mime)}`;
}

/** Of images. */
export function thumbAddress(deps: MediaContext, row: ResolvedAsset): string {
  return deps.resizeAddress(sourceOf(row), thumbnail, 'webp');
}

// `POST /v1/fit`: an image within bounds, for providers that do not accept large ones (docs/specification/media.md#fit).

/** An image of 64 × 64 pixels fits these bytes in every format, so a larger budget needs no check. */
const alwaysFits = 10_000;

/**
 * Nothing is rendered before the URL is requested, except for a budget that no image may fit. Throws 404 (does not
 * resolve), 400 (not an image, or too large an enlargement), 422 `cannot_fit`, and then as the edge does for the URL.
 */
export async function signFit(deps: MediaContext, caller: Caller, request: FitRequest): Promise<FittedImage> {
  const { ref, legacyBucket, width, height, resizingType, enlarge, maxBytes, format, resizingAlgorithm } = request;
  const row = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
  if (row === undefined) throw noSuchAsset();
  if (!isDecodable(row.mime)) throw invalid('body.ref', `must be an image: one of ${decodableFormats}`);
  if (enlarge) refuseLargeEnlargement(row, toTransform({ width, height, resizingType, enlarge, format }));
  const options = { width, height, resizingType, enlarge, maxBytes, algorithm: resizingAlgorithm };
  if (maxBytes !== undefined && maxBytes < alwaysFits)
    await render(deps, row, toTransform({ ...options, format, resampling: resizingAlgorithm }));
  return { url: deps.resizeAddress(sourceOf(row), options, format) };
}

/** The variant that the URL shows. */
async function render(deps: MediaContext, row: ResolvedAsset, transform: Transform): Promise<void> {
  const { objects, storageKey, etag, version, backend } = row;
  const source = objectSource(
    objects,
    storageKey,
    etag ?? version,
    backend === 'legacy' ? (etag ?? version) : undefined,
  );
  try {
    await deps.variants.serve(source, transform);
  } catch (error) {
    throw asVariantProblem(error, 'body.enlarge');
  }
}

/** If the size of the image is unknown, the edge refuses the request for the URL. */
function refuseLargeEnlargement({ width, height }: ResolvedAsset, transform: Transform): void {
  if (width === null || height === null) return;
  try {
    planSize(transform, { width, height }, Number.POSITIVE_INFINITY);
  } catch (error) {
    throw error instanceof EnlargementFault ? invalid('body.enlarge', error.message) : error;
  }
}
