import { EnlargementFault } from '#image/engine/engine.ts';
import { asImageProblem } from '#image/engine/problems.ts';
import { SourceFault } from '#image/engine/sources.ts';
import { StoreFault } from '#image/engine/variants.ts';
import { defineProblems, invalid, Problem, type ProblemDetails, problems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** Problems of the edge. `not_found`, `invalid_request`, `payload_too_large` and `engine_unavailable` are common to all services. */
export const edgeProblems = defineProblems(table);

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
