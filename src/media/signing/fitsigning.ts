/**
 * `POST /v1/fit`: an image within bounds, for providers that do not accept large ones
 * (docs/specification/media.md#fit).
 */
import type { ResizeSigner } from '#edge/api.ts';
import { EnlargementFault, type Transform } from '#image/engine/engine.ts';
import { decodableFormats, isDecodable } from '#image/engine/formats.ts';
import { planSize } from '#image/engine/geometry.ts';
import { toTransform } from '#image/engine/specs.ts';
import type { Caller } from '#platform/access/caller.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { FitRequest, FittedImage } from '../api.ts';
import type { ResolvedAsset } from '../lookup/assetlookup.ts';
import { type ResolvingDeps, resolveRefs, sourceOf } from './resolving.ts';

export interface FitSigningDeps extends ResolvingDeps {
  readonly resizeAddress: ResizeSigner;
}

/**
 * Nothing is rendered before the URL is requested. Throws 404 (does not resolve), and 400 (not an image, or too large
 * an enlargement).
 */
export async function signFit(deps: FitSigningDeps, caller: Caller, request: FitRequest): Promise<FittedImage> {
  const { ref, legacyBucket, width, height, resizingType, enlarge, maxBytes, format, resizingAlgorithm } = request;
  const row = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
  if (row === undefined) throw problems.not_found({ message: 'There is no such asset.' });
  if (!isDecodable(row.mime)) throw invalid('body.ref', `must be an image: one of ${decodableFormats}`);
  if (enlarge) refuseLargeEnlargement(row, toTransform({ width, height, resizingType, enlarge, format }));
  const options = { width, height, resizingType, enlarge, maxBytes, algorithm: resizingAlgorithm };
  return { url: deps.resizeAddress(sourceOf(row), options, format) };
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
