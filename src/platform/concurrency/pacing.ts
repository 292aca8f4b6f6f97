/** Long work in small pieces, between which the process serves everything else. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** To be awaited between two pieces: lets the event loop turn once the pieces have taken `maxBusyMs` together. */
export function createPacer(maxBusyMs = 10): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < maxBusyMs) return;
    await nextTurn();
    sinceMs = performance.now();
  };
}
