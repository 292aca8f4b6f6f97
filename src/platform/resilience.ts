/** Work that may fail or take too long: time limits, retries, and a breaker. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './clock.ts';

// Time limits. Both abort a signal, so that late work also stops.

export class DeadlineExceeded extends Error {
  constructor(timeoutMs: number) {
    super(`no response within ${timeoutMs} ms`);
    this.name = 'DeadlineExceeded';
  }
}

/**
 * Rejects with DeadlineExceeded if `work` takes longer than `timeoutMs`, even if it ignores its signal. Rejects with the reason of
 * `outer` as soon as that aborts.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  const deadline = startIdleDeadline(timeoutMs, outer);
  try {
    return await deadline.race(work(deadline.signal));
  } finally {
    deadline.stop();
  }
}

/** Resolves when `work` does, or after `timeoutMs`. */
export async function waitAtMost(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export interface IdleDeadline {
  readonly signal: AbortSignal;
  /** Restarts the time limit: there was progress, or a pause is over. */
  touch(): void;
  /** Stops the clock until the next `touch`, for a delay that the other side does not cause. */
  pause(): void;
  /** Settles as `work` does, or rejects when the time limit is reached. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Always call this. It clears the timer. */
  stop(): void;
}

/** For work that may take any time as long as it makes progress, such as an upload. */
export function startIdleDeadline(timeoutMs: number, outer?: AbortSignal): IdleDeadline {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // If no race is pending, the rejection would be unhandled.
  ended.catch(() => undefined);
  const end = (reason: unknown) => {
    reject(reason);
    controller.abort(reason);
  };
  const passOn = () => end(outer?.reason);
  const start = () => setTimeout(() => end(new DeadlineExceeded(timeoutMs)), timeoutMs);
  let timer = start();
  let state: 'running' | 'paused' | 'stopped' = 'running';
  outer?.addEventListener('abort', passOn, { once: true });
  if (outer?.aborted) passOn();
  return {
    signal: controller.signal,
    touch: () => {
      if (state === 'running') timer.refresh();
      if (state === 'paused') {
        timer = start();
        state = 'running';
      }
    },
    pause: () => {
      clearTimeout(timer);
      if (state === 'running') state = 'paused';
    },
    race: (work) => Promise.race([work, ended]),
    stop: () => {
      clearTimeout(timer);
      state = 'stopped';
      outer?.removeEventListener('abort', passOn);
    },
  };
}

// Retries work with exponential, randomized delays.

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

// Fails fast while an engine is down. After several failures in a row, only one call per `trialEveryMs` is let through. The
// first success closes the breaker, so it closes at most that long after the engine recovers.

export class BreakerOpen extends Error {
  override readonly name = 'BreakerOpen';
}

interface BreakerOptions {
  readonly failuresToOpen: number;
  /** Minimum duration of the failures. A burst of failures at one moment, for example from stale connections, is not an outage. */
  readonly failingForMs?: number;
  readonly trialEveryMs: number;
  /** Reports whether the error means that the engine is down or overloaded. Every other outcome shows that it responds. */
  readonly isFailure: (error: unknown) => boolean;
  /** Neither a failure nor a success: the caller gave up, or the call was never made. */
  readonly isNeutral?: (error: unknown) => boolean;
  /** `monotonicClock`, or the clock of a test. */
  readonly clock: Clock;
}

export interface Breaker {
  /** Rejects with BreakerOpen, without doing the work, while the engine is considered down. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createBreaker(options: BreakerOptions): Breaker {
  const { failuresToOpen, failingForMs = 0, trialEveryMs, isFailure, isNeutral, clock } = options;
  let failures = 0;
  let failingSince = 0;
  let lastFailure: unknown;
  /** Set while the breaker is open. */
  let nextTrialAt: number | undefined;

  function admit(): void {
    if (nextTrialAt === undefined) return;
    if (clock.now() < nextTrialAt)
      throw new BreakerOpen('the circuit breaker is open because the last calls failed', { cause: lastFailure });
    nextTrialAt = clock.now() + trialEveryMs;
  }

  function succeed(): void {
    failures = 0;
    nextTrialAt = undefined;
  }

  /** Failures of calls that started before it opened do not postpone the next trial. */
  function fail(error: unknown): void {
    const now = clock.now();
    if (failures === 0) failingSince = now;
    failures += 1;
    lastFailure = error;
    if (failures >= failuresToOpen && now - failingSince >= failingForMs) nextTrialAt ??= now + trialEveryMs;
  }

  return {
    run: async (work) => {
      admit();
      try {
        const result = await work();
        succeed();
        return result;
      } catch (error) {
        if (isNeutral?.(error)) throw error;
        if (isFailure(error)) fail(error);
        else succeed();
        throw error;
      }
    },
  };
}
