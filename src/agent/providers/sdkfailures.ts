/** Failures of the AI SDK's image and video models, for the user. */
import { APICallError, LoadAPIKeyError } from '@ai-sdk/provider';
import { OrderRefused, ProviderFailed } from './generators.ts';

/** `malformed` describes a response that the package cannot read. */
export function explainSdkFailure(error: unknown, what: string, malformed: string): Error {
  const known = findKnown(error);
  if (known !== undefined) return known;
  if (LoadAPIKeyError.isInstance(error))
    return new ProviderFailed(`The ${what} provider needs a key.`, { cause: error });
  const isResponse = APICallError.isInstance(error) && error.statusCode !== undefined;
  const message = isResponse ? malformed : `The ${what} provider could not be reached, or did not respond in time.`;
  return new ProviderFailed(message, { cause: error });
}

/** Packages wrap some errors of `fetch`. */
function findKnown(error: unknown): Error | undefined {
  if (error instanceof OrderRefused || error instanceof ProviderFailed) return error;
  return error instanceof Error && error.cause !== undefined ? findKnown(error.cause) : undefined;
}
