/**
 * One after the other for each entity, within this process: whoever waits for an entity's lock in the database holds a
 * connection, and a burst of additions to one entity would hold them all.
 */
import { problems } from '#platform/problem.ts';

export type EntityQueue = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** Below the 10 s within which every request is answered (docs/specification/http.md#failing-engines). */
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
    // The next one waits for the end, however it came about.
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
