/**
 * `POST /v1/fit`: an image within bounds, for providers that do not accept large ones
 * (docs/specification/media.md#fit).
 */
import { EnlargementFault, type Transform } from '#image/engine/engine.ts';
import { decodableFormats, isDecodable } from '#image/engine/formats.ts';
import { planSize } from '#image/engine/geometry.ts';
import { asImageProblem } from '#image/engine/problems.ts';
import { objectSource, SourceFault } from '#image/engine/sources.ts';
import { toTransform } from '#image/engine/specs.ts';
import { StoreFault } from '#image/engine/variants.ts';
import type { Caller } from '#platform/access/caller.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { FitRequest, FittedImage } from '../api.ts';
import type { MediaContext } from '../context.ts';
import { type ResolvedAsset, resolveRefs, sourceOf } from '../lookup/assetlookup.ts';

/** An image of 64 × 64 pixels fits these bytes in every format, so a larger budget needs no check. */
const alwaysFits = 10_000;

/**
 * Nothing is rendered before the URL is requested, except for a budget that no image may fit. Throws 404 (does not
 * resolve), 400 (not an image, or too large an enlargement), 422 `cannot_fit`, and then as the edge does for the URL.
 */
export async function signFit(deps: MediaContext, caller: Caller, request: FitRequest): Promise<FittedImage> {
  const { ref, legacyBucket, width, height, resizingType, enlarge, maxBytes, format, resizingAlgorithm } = request;
  const row = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
  if (row === undefined) throw problems.not_found({ message: 'There is no such asset.' });
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
    if (error instanceof SourceFault && error.reason === 'absent') throw problems.not_found({ cause: error });
    if (error instanceof SourceFault || error instanceof StoreFault)
      throw problems.engine_unavailable({ cause: error });
    throw error instanceof EnlargementFault ? invalid('body.enlarge', error.message) : asImageProblem(error);
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
