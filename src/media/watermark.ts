/** `POST /v1/watermark`: a picture with the wordmark on it, for downloads (docs/specification/media.md#watermarks). */
import type { Caller } from '#platform/access/caller.ts';
import { isSafeKey } from '#platform/objects/keys.ts';
import { invalid, problems } from '#platform/problem.ts';
import { type AnswersDeps, answersOf } from './answers.ts';
import type { Watermarked, WatermarkRequest } from './api.ts';
import { isImage } from './limits.ts';
import type { Located } from './locating.ts';
import { isReplaced } from './marks/marks.ts';
import { type ResolvingDeps, resolveRefs } from './resolving.ts';
import { originalAddress } from './signing.ts';
import { type WatermarkMaker, watermarkKeyOf } from './watermarkmaking.ts';

export interface WatermarkDeps extends ResolvingDeps, AnswersDeps {
  readonly watermarks: WatermarkMaker;
}

/** The JSON of Watermarked. Throws 404 as `resolveRefs` leaves out, 400 when it is no image, and as `WatermarkMaker` does. */
export async function watermarkImage(deps: WatermarkDeps, caller: Caller, request: WatermarkRequest): Promise<string> {
  const { ref, legacyBucket } = request;
  const told = await answersOf(deps, caller, 'watermark', { refs: [ref], legacyBucket }, async () => {
    const located = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
    return located === undefined || isReplaced(located)
      ? new Map()
      : new Map([[ref, { located, told: await signMarked(deps, located) }]]);
  });
  const answer = told.get(ref);
  if (answer === undefined) throw problems.not_found({ message: 'There is no such asset.' });
  return answer;
}

async function signMarked(deps: WatermarkDeps, source: Located): Promise<Watermarked> {
  if (!isImage(source.mime)) throw invalid('body.ref', 'must be an image');
  // Beside the longest names of the legacy backend no other can lie.
  if (!isSafeKey(watermarkKeyOf(source.storageKey)))
    throw invalid('body.ref', 'has too long a name for a file beside it');
  const storageKey = await deps.watermarks.ensure(source);
  // Nobody can upload to its key: whatever lies there was made here, of bytes that may be shown.
  return { url: originalAddress({ objects: source.objects, storageKey, mime: 'image/jpeg', etag: undefined }) };
}
