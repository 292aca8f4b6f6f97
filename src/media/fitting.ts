/** `POST /v1/fit`: an image within bounds, for providers that take no large ones (document 000; CONTRACT §4). */
import type { ResizeSigner } from '#edge/api.ts';
import { decodableFormats, isDecodable } from '#image/engine/formats.ts';
import type { Caller } from '#platform/access/caller.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { FitRequest, FittedImage } from './api.ts';
import { type ResolvingDeps, resolveRefs, sourceOf } from './resolving.ts';

export interface FittingDeps extends ResolvingDeps {
  readonly resizeAddress: ResizeSigner;
}

/** Nothing is made before the address is opened. Throws 404 as `resolveRefs` leaves out, and 400 when it is no image. */
export async function fitImage(deps: FittingDeps, caller: Caller, request: FitRequest): Promise<FittedImage> {
  const { ref, legacyBucket, width, height, resizingType, enlarge, maxBytes, format, resizingAlgorithm } = request;
  const row = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
  if (row === undefined) throw problems.not_found({ message: 'There is no such asset.' });
  if (!isDecodable(row.mime)) throw invalid('body.ref', `must be an image: one of ${decodableFormats}`);
  const options = { width, height, resizingType, enlarge, maxBytes, algorithm: resizingAlgorithm };
  return { url: deps.resizeAddress(sourceOf(row), options, format) };
}
