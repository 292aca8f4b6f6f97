import { asVariantProblem } from '#image/engine/problems.ts';
import { defineProblems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** Problems of the edge. `not_found`, `invalid_request`, `payload_too_large` and `engine_unavailable` are common to all services. */
export const edgeProblems = defineProblems(table);

/** Converts errors of the variant maker to the codes of the image service. Other errors are returned unchanged. */
export const asProblem = (error: unknown): unknown => asVariantProblem(error, 'options.enlarge');
