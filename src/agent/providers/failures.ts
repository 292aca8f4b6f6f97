/** Explains to the user why a run failed, without internals, addresses and keys. */
import {
  APICallError,
  InvalidResponseDataError,
  InvalidToolInputError,
  LoadAPIKeyError,
  NoSuchToolError,
  RetryError,
} from 'ai';
import { DeadlineExceeded } from '#platform/resilience.ts';
import { FirstTokenTimeout, RunFailure } from '../problems.ts';

export const brokeOff = 'The model did not complete its answer.';

export function explainFailure(error: unknown): string {
  if (error instanceof RunFailure) return error.message;
  if (RetryError.isInstance(error)) return explainFailure(error.lastError);
  if (LoadAPIKeyError.isInstance(error)) return 'The model provider needs a key.';
  if (APICallError.isInstance(error)) return isInterruption(error) ? brokeOff : explainCall(error.statusCode);
  if (NoSuchToolError.isInstance(error)) return `There is no tool named ${error.toolName.slice(0, 100)}.`;
  if (InvalidToolInputError.isInstance(error))
    return `The arguments do not match the schema of ${error.toolName.slice(0, 100)}.`;
  // The SDK's error for a stream that ends without a finish reason: it has no invalid data.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined) return brokeOff;
  if (error instanceof DeadlineExceeded || error instanceof FirstTokenTimeout) return 'The model stopped responding.';
  return 'The model provider failed.';
}

/** The connection broke after the response had begun. Packages then report its status, and `fetch` a TypeError. */
export function isInterruption(error: unknown): boolean {
  if (APICallError.isInstance(error)) return error.statusCode !== undefined && error.statusCode < 300;
  return error instanceof TypeError && error.cause !== undefined;
}

function explainCall(status: number | undefined): string {
  if (status === undefined) return 'The model provider could not be reached.';
  if (status === 401 || status === 403) return `The model provider rejected the credentials (${status}).`;
  if (status === 429) return 'The model provider is busy (429).';
  return `The model provider returned ${status}.`;
}
