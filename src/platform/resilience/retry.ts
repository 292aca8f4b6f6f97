/** Repeats work that may be repeated, with exponential waits that are spread at random. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  /** In all, the first included. */
  readonly attempts: number;
  /** Upper bound of the first wait; doubled for each further one, up to `maxDelayMs`. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** Only errors that a repeat may mend, of work that does no harm when it is done twice. */
  readonly isRetryable: (error: unknown) => boolean;
  /** Aborted: no wait and no further attempt; the last failure is thrown. */
  readonly signal?: AbortSignal;
}

export async function retry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= options.attempts || options.signal?.aborted || !options.isRetryable(error)) throw error;
      await sleep(delayMs(attempt, options), undefined, { signal: options.signal }).catch(() => {
        // Aborted: the failure tells more than that the wait was cut short.
        throw error;
      });
    }
  }
}

/** "Full jitter": callers that failed together do not come back together. */
function delayMs(attempt: number, { baseDelayMs, maxDelayMs }: RetryOptions): number {
  return Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
}
