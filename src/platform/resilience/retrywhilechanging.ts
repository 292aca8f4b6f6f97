/** Optimistic work: an attempt that finds its rows or objects changed by another request is made again. */
import { setTimeout as sleep } from 'node:timers/promises';

const maxAttempts = 5;
/** Multiplied by the number of the attempt and a random factor, so that competing callers spread out. */
const pauseMs = 50;

/**
 * Resolves with the first result of `attempt` that is not `undefined`, which means that something changed. Throws
 * `exhausted()` after five attempts; errors of an attempt are not retried.
 */
export async function retryWhileChanging<Result>(
  attempt: () => Promise<Result | undefined>,
  exhausted: () => Error,
): Promise<Result> {
  for (let made = 1; made <= maxAttempts; made++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await sleep(pauseMs * made * Math.random());
  }
  throw exhausted();
}
