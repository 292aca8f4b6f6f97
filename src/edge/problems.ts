import { EnlargementFault } from '#image/engine/engine.ts';
import { asPictureProblem } from '#image/engine/problems.ts';
import { SourceFault } from '#image/engine/sources.ts';
import { StoreFault } from '#image/engine/variants.ts';
import { defineProblems, invalid, type ProblemDetails, problems } from '#platform/problem.ts';

/** Problems of the edge. `not_found`, `invalid_request`, `payload_too_large` and `engine_unavailable` are common to all services. */
export const edgeProblems = defineProblems({
  invalid_address: { status: 403, message: 'The address is not valid, or not any more.' },
  upload_incomplete: { status: 400, message: 'The upload ended before all of it had come.' },
  upload_in_progress: {
    status: 409,
    message: 'Another upload to this address is under way.',
    // Four attempts outlast a broken connection that the server has not detected.
    retryAfterS: 10,
  },
  offset_conflict: { status: 409, message: 'The upload has another offset.' },
  upload_ended: { status: 410, message: 'The upload has ended.' },
  unsupported_version: { status: 412, message: 'The header Tus-Resumable must be 1.0.0.' },
  already_exists: { status: 412, message: 'There is an object at this address already.' },
  condition_failed: { status: 412, message: 'The object is not the one that the request names.' },
  range_not_satisfiable: { status: 416, message: 'The range starts beyond the end of the object.' },
});

/** Converts errors of the variant maker to the codes of the image service. Other errors are returned unchanged. */
export function asProblem(error: unknown): unknown {
  const details: ProblemDetails = { cause: error };
  // The source was deleted while its variant was being generated.
  if (error instanceof SourceFault && error.reason === 'absent') return problems.not_found(details);
  if (error instanceof SourceFault || error instanceof StoreFault) return problems.engine_unavailable(details);
  if (error instanceof EnlargementFault) return invalid('options.enlarge', error.message);
  return asPictureProblem(error);
}
