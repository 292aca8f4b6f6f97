/** The current time, injected so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Measures durations. It is not affected when the system clock is set, and its zero has no meaning. */
export const monotonicClock: Clock = { now: () => performance.now() };
