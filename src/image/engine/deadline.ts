import { EngineTimeout } from './engine.ts';

/** One time limit for all the work on one image. */
export interface Deadline {
  /** Rejects with EngineTimeout at the deadline. */
  readonly passed: Promise<never>;
  /** Whole seconds, at least 1, for sharp. Throws EngineTimeout if no time is left. */
  remainingS(): number;
  /** Ends the deadline when the work is done. */
  clear(): void;
}

export function startDeadline(timeoutMs: number): Deadline {
  const endsAt = performance.now() + timeoutMs;
  const fault = () => new EngineTimeout(`not finished within ${timeoutMs} ms`);
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
