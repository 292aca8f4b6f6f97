/** What the image service answers when it cannot do as asked (document 000, image variant service, errors). */
import { defineProblems, type ProblemDetails, problems } from '#platform/problem.ts';
import { EngineBusy, EngineTimeout, PictureFault } from './engine/engine.ts';
import { SourceFault } from './engine/sources.ts';
import { StoreFault } from './engine/variants.ts';
import { ForbiddenUrl } from './guard.ts';

export const imageProblems = defineProblems({
  source_url_forbidden: { status: 400, message: 'The address of the source may not be fetched from here.' },
  unsupported_image: { status: 422, message: 'The source is not a JPEG, PNG, WebP, GIF or AVIF.' },
  undecodable_image: { status: 422, message: 'The source cannot be decoded.' },
  image_too_large: { status: 422, message: 'The source has too many pixels or bytes.' },
  source_unavailable: { status: 502, message: 'The source is not there, or could not be fetched.' },
  variant_store_failed: { status: 502, message: 'The store of the variants could not be read or written.' },
  processing_timeout: { status: 504, message: 'The processing of the image took too long.' },
});

const codeByReason = {
  unsupported: 'unsupported_image',
  undecodable: 'undecodable_image',
  too_large: 'image_too_large',
} as const;

/** What the variant maker throws, as a Problem; anything else as it is. */
export function asProblem(error: unknown): unknown {
  const details: ProblemDetails = { cause: error };
  if (error instanceof PictureFault)
    return imageProblems[codeByReason[error.reason]]({ ...details, message: error.message });
  if (error instanceof ForbiddenUrl) return imageProblems.source_url_forbidden(details);
  if (error instanceof SourceFault) return imageProblems.source_unavailable(details);
  if (error instanceof StoreFault) return imageProblems.variant_store_failed(details);
  if (error instanceof EngineBusy) return problems.overloaded(details);
  if (error instanceof EngineTimeout) return imageProblems.processing_timeout(details);
  return error;
}
