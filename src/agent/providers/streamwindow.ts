/**
 * How long deltas of a model's stream are collected before they are passed on. Shorter than a reader notices; with many
 * open streams longer, because most of the cost is per delta that is passed on.
 */
const minWindowMs = 20;
/** Longer windows save little processor time, and the oldest token of each waits that much longer. */
const maxWindowMs = 60;

/** In this process. */
let openStreams = 0;

export function windowMs(): number {
  return Math.min(maxWindowMs, Math.max(minWindowMs, openStreams));
}

/** Counts an open stream. Call the result once, when the stream has ended. */
export function countOpenStream(): () => void {
  openStreams += 1;
  return () => {
    openStreams -= 1;
  };
}
