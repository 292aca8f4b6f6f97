import { EngineBusy } from './engine.ts';

/** Leave to use one of a bounded number of places; first come, first served. */
export interface Permits {
  /** Throws EngineBusy after the wait. The function given back returns the permit, once. */
  acquire(): Promise<() => void>;
}

export function createPermits(options: { readonly count: number; readonly waitMs: number }): Permits {
  let free = options.count;
  // Insertion order is the order of arrival; who gives up takes itself out.
  const waiting = new Set<() => void>();

  const release = () => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };

  const waitForTurn = () => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const turn = () => {
      clearTimeout(timer);
      waiting.delete(turn);
      resolve(release);
    };
    const timer = setTimeout(() => {
      waiting.delete(turn);
      reject(new EngineBusy(`no permit within ${options.waitMs} ms`));
    }, options.waitMs);
    waiting.add(turn);
    return promise;
  };

  return {
    acquire: async () => {
      if (free === 0) return waitForTurn();
      free -= 1;
      return release;
    },
  };
}
