/**
 * Runs writes of one entity in this process one after the other. A write that waits for the entity's lock holds a
 * database connection, so a burst of additions to one entity could otherwise hold all of them.
 */
import { problems } from '#platform/problem.ts';

export type EntityQueue = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** Below the 10 s limit of every response (docs/specification/http.md#failing-engines). */
const longestWaitMs = 6_000;

export function createEntityQueue(): EntityQueue {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const since = performance.now();
    const before = tails.get(key);
    const turn = (async () => {
      await before;
      if (performance.now() - since > longestWaitMs) throw problems.overloaded();
      return work();
    })();
    // The next write waits for the end, also if this one fails.
    const tail = turn.then(
      () => undefined,
      () => undefined,
    );
    tails.set(key, tail);
    try {
      return await turn;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
