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

export function createBreaker({ failuresToOpen, trialEveryMs, isFailure, isNeutral, clock }: BreakerOptions): Breaker {
  let failures = 0;
  let nextTrialAt = 0;
  let lastFailure: unknown;

  function admit(): void {
    if (failures < failuresToOpen) return;
    if (clock.now() < nextTrialAt) throw new BreakerOpen(lastFailure);
    nextTrialAt = clock.now() + trialEveryMs;
  }

  function judge(error: unknown): void {
    if (isNeutral?.(error)) return;
    if (!isFailure(error)) {
      failures = 0;
      return;
    }
    failures += 1;
    lastFailure = error;
    // Later ones, of calls that had begun before, do not put the next trial off.
    if (failures === failuresToOpen) nextTrialAt = clock.now() + trialEveryMs;
  }

  return {
    run: async (work) => {
      admit();
      try {
        const result = await work();
        failures = 0;
        return result;
      } catch (error) {
        judge(error);
        throw error;
      }
    },
  };
}
