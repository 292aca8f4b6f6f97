/**
 * A bounded first-come queue in front of the connections, so that an engine that is too slow sheds load (503) instead of
 * gathering it.
 */
import { problems } from '../problem.ts';

export interface GateOptions {
  /** How many may be inside at once. */
  readonly width: number;
  /** How many may wait; one more is `overloaded`. */
  readonly maxWaiting: number;
  /** Who waited so long is `overloaded` too. */
  readonly waitTimeoutMs: number;
}

export interface Gate {
  /** Resolves to the function that leaves again (once; further calls do nothing). */
  enter(): Promise<() => void>;
  /** Refuses newcomers as `draining`; resolves when everybody inside and waiting has left, at most after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

interface Waiter {
  readonly admit: () => void;
}

export function createGate(options: GateOptions): Gate {
  const waiting = new Set<Waiter>();
  const emptied = Promise.withResolvers<void>();
  let inside = 0;
  let closed = false;

  const leave = (): void => {
    inside -= 1;
    const [next] = waiting;
    if (next !== undefined) {
      waiting.delete(next);
      next.admit();
    } else if (closed && inside === 0) emptied.resolve();
  };
  const admit = (): (() => void) => {
    inside += 1;
    let left = false;
    return () => {
      if (!left) leave();
      left = true;
    };
  };
  const wait = (): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit: () => {
          clearTimeout(timer);
          resolve(admit());
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        const cause = new Error(`No database connection became free within ${options.waitTimeoutMs} ms`);
        reject(problems.overloaded({ cause }));
      }, options.waitTimeoutMs);
      waiting.add(waiter);
    });

  return {
    async enter() {
      if (closed) throw problems.draining({ cause: new Error('The database is closed') });
      if (inside < options.width) return admit();
      if (waiting.size >= options.maxWaiting)
        throw problems.overloaded({ cause: new Error(`${waiting.size} queries wait for a database connection`) });
      return wait();
    },
    async close(timeoutMs) {
      closed = true;
      if (inside === 0) return;
      const timer = setTimeout(emptied.resolve, timeoutMs);
      await emptied.promise;
      clearTimeout(timer);
    },
  };
}
