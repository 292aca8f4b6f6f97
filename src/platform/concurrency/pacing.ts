/** Splits long work into small pieces, so that the process can serve other requests between them. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Await the returned function between two pieces. It yields to the event loop once the pieces have taken `maxBusyMs` together. */
export function createPacer(maxBusyMs = 10): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < maxBusyMs) return;
    await nextTurn();
    sinceMs = performance.now();
  };
}
