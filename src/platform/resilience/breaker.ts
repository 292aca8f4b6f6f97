/**
 * Fails fast while an engine is down. After several failures in a row, only one call per `trialEveryMs` is let through. The
 * first success closes the breaker, so it closes at most that long after the engine recovers.
 */
import type { Clock } from '../clock.ts';

export class BreakerOpen extends Error {
  constructor(cause: unknown) {
    super('the circuit breaker is open because the last calls failed', { cause });
    this.name = 'BreakerOpen';
  }
}

export interface BreakerOptions {
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
    if (clock.now() < nextTrialAt) throw new BreakerOpen(lastFailure);
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
