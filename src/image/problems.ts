/** The errors of the image service (docs/specification/image.md#image-errors). */

import { ForbiddenUrl } from '#platform/http/hostguard.ts';
import { defineProblems, invalid, type ProblemDetails } from '#platform/problem.ts';
import { EnlargementFault } from './engine/engine.ts';
import { asImageProblem } from './engine/problems.ts';
import { SourceFault } from './engine/sources.ts';
import { StoreFault } from './engine/variants.ts';

export const imageProblems = defineProblems({
  source_url_forbidden: { status: 400, message: 'The URL of the source is not allowed. Use a public URL or a `key`.' },
  source_unavailable: { status: 502, message: 'The source does not exist or could not be fetched.' },
  variant_store_failed: { status: 502, message: 'The object store of the variants could not be read or written.' },
});

/** Converts the variant maker's errors to a Problem. Returns other errors unchanged. */
export function asProblem(error: unknown): unknown {
  const details: ProblemDetails = { cause: error };
  if (error instanceof ForbiddenUrl) return imageProblems.source_url_forbidden(details);
  if (error instanceof SourceFault) return imageProblems.source_unavailable(details);
  if (error instanceof StoreFault) return imageProblems.variant_store_failed(details);
  if (error instanceof EnlargementFault) return invalid('body.specs', error.message);
  return asImageProblem(error);
}
