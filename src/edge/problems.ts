import { EngineBusy, EngineTimeout, PictureFault } from '#image/engine/engine.ts';
import { SourceFault } from '#image/engine/sources.ts';
import { StoreFault } from '#image/engine/variants.ts';
import { defineProblems, type ProblemDetails, problems } from '#platform/problem.ts';

/** Of the edge alone; `not_found`, `invalid_request`, `payload_too_large` and `engine_unavailable` are common to all. */
export const edgeProblems = defineProblems({
  invalid_address: { status: 403, message: 'The address is not valid, or not any more.' },
  upload_incomplete: { status: 400, message: 'The upload ended before all of it had come.' },
  already_exists: { status: 412, message: 'There is an object at this address already.' },
  condition_failed: { status: 412, message: 'The object is not the one that the request names.' },
  range_not_satisfiable: { status: 416, message: 'The range starts beyond the end of the object.' },
  unsupported_image: { status: 422, message: 'The source is not a JPEG, PNG, WebP, GIF or AVIF.' },
  undecodable_image: { status: 422, message: 'The source cannot be decoded.' },
  image_too_large: { status: 422, message: 'The source has too many pixels or bytes.' },
  processing_timeout: { status: 504, message: 'The processing of the image took too long.' },
});

const codeByReason = {
  unsupported: 'unsupported_image',
  undecodable: 'undecodable_image',
  too_large: 'image_too_large',
} as const;

/** What the variant maker throws, with the codes of the image service; anything else as it is. */
export function asProblem(error: unknown): unknown {
  const details: ProblemDetails = { cause: error };
  if (error instanceof PictureFault)
    return edgeProblems[codeByReason[error.reason]]({ ...details, message: error.message });
  // Deleted while its variant was being made.
  if (error instanceof SourceFault && error.reason === 'absent') return problems.not_found(details);
  if (error instanceof SourceFault || error instanceof StoreFault) return problems.engine_unavailable(details);
  if (error instanceof EngineBusy) return problems.overloaded(details);
  if (error instanceof EngineTimeout) return edgeProblems.processing_timeout(details);
  return error;
}
