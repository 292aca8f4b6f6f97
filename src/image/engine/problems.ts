/** Maps the engine's faults to problems, for all services that serve images (docs/specification/image.md#image-errors). */
import { defineProblems, invalid, Problem, type ProblemDetails, problems } from '#platform/problem.ts';
import { BudgetFault, EngineBusy, EngineTimeout, EnlargementFault, ImageFault } from './engine.ts';
import { decodableFormats } from './formats.ts';
import { SourceFault } from './sources.ts';
import { StoreFault } from './variants.ts';

export const engineProblems = defineProblems({
  unsupported_image: {
    status: 422,
    message: `The format of the source is not supported. Use one of ${decodableFormats}.`,
  },
  undecodable_image: { status: 422, message: 'The source cannot be decoded.' },
  image_too_large: { status: 422, message: 'The source has too many pixels or bytes.' },
  cannot_fit: { status: 422, message: 'The image does not fit `maxBytes` even at 64 pixels on its long side.' },
  processing_timeout: { status: 504, message: 'The processing of the image took too long.' },
});

/** By the reason of an ImageFault. */
export const codeByReason = {
  unsupported: 'unsupported_image',
  undecodable: 'undecodable_image',
  too_large: 'image_too_large',
} as const;

/** Converts the engine's errors to a Problem. Returns other errors unchanged. */
export function asImageProblem(error: unknown): unknown {
  const details: ProblemDetails = { cause: error };
  if (error instanceof ImageFault)
    return engineProblems[codeByReason[error.reason]]({ ...details, message: error.message });
  if (error instanceof BudgetFault) return engineProblems.cannot_fit(details);
  if (error instanceof EngineBusy) return problems.overloaded(details);
  if (error instanceof EngineTimeout) return engineProblems.processing_timeout(details);
  return error;
}

/** As `asImageProblem`, for a variant of a stored object. `field`: what the request enlarges it by. */
export function asVariantProblem(error: unknown, field: string): unknown {
  const details: ProblemDetails = { cause: error };
  // The source was deleted while its variant was being generated.
  if (error instanceof SourceFault && error.reason === 'absent') return problems.not_found(details);
  if (error instanceof StoreFault && error.cause instanceof Problem && error.cause.code === 'storage_full')
    return error.cause;
  if (error instanceof SourceFault || error instanceof StoreFault) return problems.engine_unavailable(details);
  return error instanceof EnlargementFault ? invalid(field, error.message) : asImageProblem(error);
}
