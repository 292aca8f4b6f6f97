/**
 * Fails fast while an engine is down. After some failures in a row only one call per `trialEveryMs` is let through; the
 * first that succeeds closes the breaker, so it is closed again at most that long after the engine's return.
 */
import type { Clock } from '../clock.ts';

export class BreakerOpen extends Error {
  constructor(cause: unknown) {
    super('failing fast: the last calls failed', { cause });
    this.name = 'BreakerOpen';
  }
}

export interface BreakerOptions {
  readonly failuresToOpen: number;
  /** How long the failures have to have lasted: a burst of them in one moment, as of stale connections, is no outage. */
  readonly failingForMs?: number;
  readonly trialEveryMs: number;
  /** Only what says that the engine is down or overloaded; every other outcome shows that it answers. */
  readonly isFailure: (error: unknown) => boolean;
  /** Neither a failure nor a sign of life: the caller gave up, or the call was never made. */
  readonly isNeutral?: (error: unknown) => boolean;
  /** `monotonicClock`, or a test's. */
  readonly clock: Clock;
}

export interface Breaker {
  /** Rejects with BreakerOpen, without doing the work, while the engine is taken to be down. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createBreaker(options: BreakerOptions): Breaker {
  const { failuresToOpen, failingForMs = 0, trialEveryMs, isFailure, isNeutral, clock } = options;
  let failures = 0;
  let failingSince = 0;
  let lastFailure: unknown;
  /** While it is open. */
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

  /** Failures of calls that had begun before it opened do not put the next trial off. */
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
