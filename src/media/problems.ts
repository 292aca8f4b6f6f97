import { decodableFormats } from '#image/engine/formats.ts';
import { defineProblems, type Problem, problems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** docs/specification/media.md#media-errors. */
const { unsupported_image: image } = table;
export const mediaProblems = defineProblems({
  ...table,
  unsupported_image: { ...image, message: image.message.replace('{formats}', decodableFormats) },
});

export const noSuchAsset = (cause?: unknown) => problems.not_found({ message: 'There is no such asset.', cause });

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
