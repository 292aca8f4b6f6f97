/** Retries work with exponential, randomized delays. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  /** Total attempts, including the first. */
  readonly attempts: number;
  /** Upper bound of the first delay, doubled for each further one up to `maxDelayMs`. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** Only errors that a retry may resolve, for work that is safe to repeat. */
  readonly isRetryable: (error: unknown) => boolean;
  /** If it aborts, there is no further delay or attempt, and the last failure is thrown. */
  readonly signal?: AbortSignal;
}

export async function retry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= options.attempts || options.signal?.aborted || !options.isRetryable(error)) throw error;
      await sleep(delayMs(attempt, options), undefined, { signal: options.signal }).catch(() => {
        // The wait was aborted. The failure is more informative than the abort.
        throw error;
      });
    }
  }
}

/** "Full jitter": callers that failed at the same time do not retry at the same time. */
function delayMs(attempt: number, { baseDelayMs, maxDelayMs }: RetryOptions): number {
  return Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
}

/** Optimistic work: an attempt that finds its rows or objects changed by another request is made again. */
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
  for (let made = 1; ; made++) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (made === maxAttempts) throw exhausted();
    await sleep(pauseMs * made * Math.random());
  }
}
