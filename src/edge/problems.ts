import { EnlargementFault } from '#image/engine/engine.ts';
import { asImageProblem } from '#image/engine/problems.ts';
import { SourceFault } from '#image/engine/sources.ts';
import { StoreFault } from '#image/engine/variants.ts';
import { defineProblems, invalid, Problem, type ProblemDetails, problems } from '#platform/problem.ts';

/** Problems of the edge. `not_found`, `invalid_request`, `payload_too_large` and `engine_unavailable` are common to all services. */
export const edgeProblems = defineProblems({
  invalid_address: { status: 403, message: 'The URL is not valid or has expired. Request a new one.' },
  upload_incomplete: { status: 400, message: 'The upload ended before all bytes arrived. Send it again.' },
  upload_in_progress: {
    status: 409,
    message: 'Another upload to this URL is in progress. Try again later.',
    // Four attempts outlast a broken connection that the server has not detected.
    retryAfterS: 10,
  },
  offset_conflict: {
    status: 409,
    message: 'The upload is at another offset. Read it with HEAD and continue from there.',
  },
  upload_ended: { status: 410, message: 'The upload has expired or was terminated. Reserve a new one.' },
  unsupported_version: { status: 412, message: 'The header Tus-Resumable must be 1.0.0.' },
  already_exists: { status: 412, message: 'An object already exists at this URL.' },
  condition_failed: { status: 412, message: 'The object does not match the condition of the request.' },
  range_not_satisfiable: { status: 416, message: 'The range starts after the end of the object.' },
});

/** Converts errors of the variant maker to the codes of the image service. Other errors are returned unchanged. */
export function asProblem(error: unknown): unknown {
  const details: ProblemDetails = { cause: error };
  // The source was deleted while its variant was being generated.
  if (error instanceof SourceFault && error.reason === 'absent') return problems.not_found(details);
  if (error instanceof StoreFault && error.cause instanceof Problem && error.cause.code === 'storage_full')
    return error.cause;
  if (error instanceof SourceFault || error instanceof StoreFault) return problems.engine_unavailable(details);
  if (error instanceof EnlargementFault) return invalid('options.enlarge', error.message);
  return asImageProblem(error);
}
