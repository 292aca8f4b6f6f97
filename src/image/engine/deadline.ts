import { EngineTimeout } from './engine.ts';

/** One limit in time for all the work on one picture. */
export interface Deadline {
  /** Rejects with EngineTimeout when the time is up. */
  readonly passed: Promise<never>;
  /** Whole seconds, at least 1, as sharp takes them. Throws EngineTimeout when nothing is left. */
  remainingS(): number;
  /** The work is over. */
  clear(): void;
}

export function startDeadline(timeoutMs: number): Deadline {
  const endsAt = performance.now() + timeoutMs;
  const fault = () => new EngineTimeout(`not done within ${timeoutMs} ms`);
  const { promise: passed, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(fault()), timeoutMs);
  return {
    passed,
    remainingS: () => {
      const remainingMs = endsAt - performance.now();
      if (remainingMs <= 0) throw fault();
      return Math.ceil(remainingMs / 1000);
    },
    clear: () => clearTimeout(timer),
  };
}
