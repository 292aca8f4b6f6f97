import { decodableFormats } from '#image/engine/formats.ts';
import { defineProblems, type Problem } from '#platform/problem.ts';

/** docs/specification/media.md#media-errors. */
export const mediaProblems = defineProblems({
  asset_conflict: {
    status: 409,
    message: 'This `assetId` is already registered with another owner, scope, kind or mime. Use another id.',
  },
  content_restricted: { status: 403, message: 'Operators have restricted this content, so it cannot be shared.' },
  not_decidable: { status: 409, message: 'Screening blocked this content. Uphold or clear the incident instead.' },
  not_appealable: { status: 409, message: 'The incident already has an appeal or is cleared.' },
  nothing_left_to_show: {
    status: 404,
    message: 'The blocked object was removed, and no other image in the product has the same bytes.',
  },
  charge_closed: { status: 409, message: 'The credits for this asset were returned, so it was removed.' },
  object_not_found: { status: 409, message: 'There is no uploaded object to register. Upload it first.' },
  too_many_collections: { status: 409, message: 'You have 500 collections. Delete one, then try again.' },
  collection_full: { status: 409, message: 'A collection has at most 10,000 assets.' },
  asset_too_large: { status: 413, message: 'The object exceeds the maximum size for its kind of media.' },
  quota_exceeded: {
    status: 413,
    message: 'The upload would exceed the quota of the owner. Delete assets and try again.',
  },
  too_many_tasks: {
    status: 429,
    message: 'You have 20 videos waiting to be processed. Try again when one of them is done.',
    retryAfterS: 30,
  },
  unsupported_image: {
    status: 422,
    message: `Only ${decodableFormats} images can be registered. The still image of an animated PNG must be its first frame.`,
  },
  undecodable_image: { status: 422, message: 'The image cannot be decoded.' },
  image_too_large: { status: 422, message: 'The image has more pixels than allowed.' },
  cannot_fit: { status: 422, message: 'The image does not fit `maxBytes` even at 64 pixels on its long side.' },
  processing_timeout: { status: 504, message: 'The processing of the image took too long.' },
  copy_failed: { status: 502, message: 'The bytes of the asset could not be copied. Try again later.' },
  undecodable_video: { status: 422, message: 'The video cannot be decoded.' },
  video_too_large: { status: 422, message: 'The video has too many pixels or is too long to be processed.' },
  watermark_failed: { status: 500, message: 'The watermarked video could not be created.' },
  watermark_pending: {
    status: 503,
    message: 'The watermarked video is still being created. Send the request again to wait for it.',
    retryAfterS: 5,
  },
  ffmpeg_missing: {
    status: 503,
    message: 'Videos cannot be processed because ffmpeg is not installed on the server.',
    retryAfterS: 60,
  },
  csam_blocked: { status: 451, message: 'The upload matches a list of prohibited content.' },
  content_blocked: { status: 451, message: 'Content like this cannot be stored here. `label` names what was seen.' },
  no_evidence: { status: 404, message: 'The blocked object was not retained, or its days are over.' },
  evidence_locked: {
    status: 409,
    message: 'The blocked object was encrypted with another key. Set `MEDIA_QUARANTINE_KEY` to the key of that time.',
  },
  screening_unavailable: {
    status: 503,
    message: 'The upload could not be screened right now. Try again later.',
    retryAfterS: 2,
  },
  digest_pending: {
    status: 503,
    message: 'The digests of the object are still being computed. Send the request again to wait for them.',
    retryAfterS: 5,
  },
  object_changing: {
    status: 503,
    message: 'The object changed while it was being registered. Try again.',
    retryAfterS: 1,
  },
  asset_changing: { status: 503, message: 'An asset changed during the request. Try again.', retryAfterS: 1 },
});

/** Why an uploaded object is refused: its object and its row are removed. `object_not_found`: it was not registered in time (sweeping/). */
export type Refusal =
  | 'asset_too_large'
  | 'charge_closed'
  | 'quota_exceeded'
  | 'unsupported_image'
  | 'undecodable_image'
  | 'image_too_large'
  | 'csam_blocked'
  | 'content_blocked'
  | 'object_not_found';

/** A block carries the fields that docs/specification/media.md#screening names. `label`: of `content_blocked`. */
export function refusalProblem(refusal: Refusal, label = ''): Problem {
  if (refusal === 'csam_blocked') return mediaProblems[refusal]({ fields: { errorCode: refusal } });
  if (refusal !== 'content_blocked') return mediaProblems[refusal]();
  return mediaProblems[refusal]({ message: `Content like this cannot be stored here: ${label}.`, fields: { label } });
}

/** Of screening. Its object is removed with everything made of it. */
export const isBlock = (refusal: string | undefined) => refusal === 'csam_blocked' || refusal === 'content_blocked';
