/** Concurrent work with a limit. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Returns results in the order of `items`. At most `atOnce` items are processed concurrently. Throws the first failure. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let hasFailed = false;
  const worker = async () => {
    for (const [index, item] of queue) {
      if (hasFailed) return;
      results[index] = await work(item);
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, worker);
  await Promise.all(workers).catch((error: unknown) => {
    hasFailed = true;
    throw error;
  });
  return results;
}

// Splits long work into small pieces, so that the process can serve other requests between them.

/** Await the returned function between two pieces. It yields to the event loop once the pieces have taken `maxBusyMs` together. */
export function createPacer(maxBusyMs = 10): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < maxBusyMs) return;
    await nextTurn();
    sinceMs = performance.now();
  };
}
