/** The time, handed in so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** For spans of time: goes on evenly when the system's clock is set. Its zero means nothing. */
export const monotonicClock: Clock = { now: () => performance.now() };
