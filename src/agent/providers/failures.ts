/** Why a run failed, in a sentence for the user: nothing internal, no address, no key. */
import { APICallError, InvalidResponseDataError, InvalidToolInputError, NoSuchToolError, RetryError } from 'ai';
import { DeadlineExceeded } from '#platform/resilience/deadline.ts';

/** An expected failure, whose message may be shown. */
export class RunFailure extends Error {}

export const brokeOff = 'The model broke off its answer.';

export function explainFailure(error: unknown): string {
  if (error instanceof RunFailure) return error.message;
  if (RetryError.isInstance(error)) return explainFailure(error.lastError);
  if (APICallError.isInstance(error)) return explainCall(error.statusCode);
  if (NoSuchToolError.isInstance(error)) return `There is no tool named ${error.toolName.slice(0, 100)}.`;
  if (InvalidToolInputError.isInstance(error)) return `The arguments do not fit ${error.toolName.slice(0, 100)}.`;
  // So it says of a stream that ends without a finish reason: there is no data to be shown as wrong.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined) return brokeOff;
  if (error instanceof DeadlineExceeded) return 'The model stopped answering.';
  return 'The model provider failed.';
}

function explainCall(status: number | undefined): string {
  if (status === undefined) return 'The model provider could not be reached.';
  if (status === 401 || status === 403) return `The model provider refused our credentials (${status}).`;
  if (status === 429) return 'The model provider is busy (429).';
  return `The model provider answered ${status}.`;
}
