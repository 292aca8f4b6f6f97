/** `POST /v1/watermark`: an image with the brand's watermark, for downloads (docs/specification/media.md#watermarks). */
import { brandIdOf } from '#image/engine/brand.ts';
import type { Caller } from '#platform/access/caller.ts';
import { isSafeKey } from '#platform/objects/keys.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { Watermarked, WatermarkRequest } from '../api.ts';
import { isImage } from '../assets/sizelimits.ts';
import { imageWatermarkKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { type ResolvedAsset, resolveRefs } from '../lookup/assetlookup.ts';
import { signWithCache } from '../signing/signedurlcache.ts';
import { type Download, originalAddress } from '../signing/signing.ts';
import { isReplaced } from './watermarkrecords.ts';

/**
 * The JSON of Watermarked. Throws 404 if `resolveRefs` omits it, 400 if it is not an image, and as `ImageWatermarker`
 * does.
 */
export async function watermarkImage(deps: MediaContext, caller: Caller, request: WatermarkRequest): Promise<string> {
  const { ref, legacyBucket, download } = request;
  const responses = await signWithCache(
    deps,
    caller,
    'watermark',
    { refs: [ref], legacyBucket, download },
    async () => {
      const resolved = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
      return resolved === undefined || isReplaced(resolved)
        ? new Map()
        : new Map([[ref, { resolved, response: await signWatermarked(deps, resolved, download) }]]);
    },
  );
  const response = responses.get(ref);
  if (response === undefined) throw problems.not_found({ message: 'There is no such asset.' });
  return response;
}

async function signWatermarked(deps: MediaContext, source: ResolvedAsset, download: Download): Promise<Watermarked> {
  if (!isImage(source.mime)) throw invalid('body.ref', 'must be an image');
  // The longest names of the legacy backend leave no room for the suffix.
  if (!isSafeKey(imageWatermarkKeyOf(source.storageKey, brandIdOf(deps.brand))))
    throw invalid('body.ref', 'has a name that is too long to add a watermark file');
  const storageKey = await deps.watermarks.ensure(source);
  // No upload URL is ever signed for its key, so the object was made here, from bytes that passed their screening.
  return {
    url: originalAddress(deps, { objects: source.objects, storageKey, mime: 'image/jpeg', etag: undefined }, download),
  };
}
