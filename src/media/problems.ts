import { decodableFormats } from '#image/engine/formats.ts';
import { defineProblems, type Problem } from '#platform/problem.ts';

/** docs/specification/media.md#media-errors. */
export const mediaProblems = defineProblems({
  asset_conflict: {
    status: 409,
    message: 'This assetId is registered with another owner, scope, kind or mime.',
  },
  not_appealable: { status: 409, message: 'There is an appeal already, or the incident is cleared.' },
  nothing_left_to_show: {
    status: 404,
    message: 'The blocked object was removed, and no other place in the product holds an image of the same bytes.',
  },
  object_not_found: { status: 409, message: 'There is no uploaded object to register.' },
  asset_too_large: { status: 413, message: 'The object is larger than its class of media may be.' },
  quota_exceeded: { status: 413, message: 'The owner has no room left for these bytes. Delete assets and try again.' },
  too_many_tasks: {
    status: 429,
    message: 'You have 20 videos waiting to be processed. Try again when one of them is done.',
    retryAfterS: 30,
  },
  unsupported_image: {
    status: 422,
    message: `Only ${decodableFormats} images can be registered.`,
  },
  undecodable_image: { status: 422, message: 'The image cannot be decoded.' },
  image_too_large: { status: 422, message: 'The image has more pixels than allowed.' },
  copy_failed: { status: 502, message: 'The bytes of the asset could not be copied.' },
  undecodable_video: { status: 422, message: 'The video cannot be decoded.' },
  video_too_large: { status: 422, message: 'The video has more pixels, or lasts longer, than can be worked on.' },
  watermark_failed: { status: 500, message: 'The watermarked video could not be made.' },
  watermark_pending: {
    status: 503,
    message: 'The watermarked video is still being made; a repeat waits for the same one.',
    retryAfterS: 5,
  },
  ffmpeg_missing: {
    status: 503,
    message: 'Videos cannot be worked on here: ffmpeg is not installed.',
    retryAfterS: 60,
  },
  csam_blocked: { status: 451, message: 'The upload matches a list of prohibited content.' },
  screening_unavailable: {
    status: 503,
    message: 'The upload could not be screened right now.',
    retryAfterS: 2,
  },
  digest_pending: {
    status: 503,
    message: 'The object is still being read for its digests. A retry joins the same reading.',
    retryAfterS: 5,
  },
  object_changing: {
    status: 503,
    message: 'The object kept changing while it was being registered.',
    retryAfterS: 1,
  },
  asset_changing: {
    status: 503,
    message: 'An asset kept changing during the call.',
    retryAfterS: 1,
  },
});

/**
 * Why an uploaded object is refused: its object and its row are removed. `object_not_found`: it was not registered in time
 * (sweeping/).
 */
export type Refusal =
  | 'asset_too_large'
  | 'quota_exceeded'
  | 'unsupported_image'
  | 'undecodable_image'
  | 'image_too_large'
  | 'csam_blocked'
  | 'object_not_found';

/** The 451 carries its code in the field that docs/specification/media.md#screening names, too. */
export function refusalProblem(refusal: Refusal): Problem {
  return mediaProblems[refusal](refusal === 'csam_blocked' ? { fields: { errorCode: refusal } } : {});
}
