/** Limits of concurrent work: gates in front of it, a number at a time, and pauses for other requests. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem, problems } from './problem.ts';
import { waitAtMost } from './resilience.ts';

// A bounded first-come, first-served queue in front of scarce work, such as database connections. If the work is too slow, the
// server sheds load (503) instead of accumulating it.

export interface GateOptions {
  /** Maximum number of concurrent holders. */
  readonly width: number;
  /** Maximum number of waiting callers. A further caller gets `overloaded`. */
  readonly maxWaiting: number;
  /**
   * A caller that has waited this long gets `overloaded`. Time in which the process got no CPU or was blocked does not count: timers
   * fire before the process reads the answers that make places free.
   */
  readonly waitTimeoutMs: number;
}

export interface Gate {
  /** Resolves to the function that releases the place. Calling it more than once has no effect. */
  enter(): Promise<() => void>;
  /** Does the work inside. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Rejects new callers with `draining`. Resolves when all holders and waiting callers have left, or after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: () => void;
  ticksLeft: number;
}

/** In the time that a caller waits at most. A tick is late in a busy process, and counts once however late it is. */
const ticks = 20;

export function createGate(options: GateOptions): Gate {
  const waiting = new Set<Waiter>();
  const emptied = Promise.withResolvers<void>();
  let inside = 0;
  let closed = false;
  let ticking: NodeJS.Timeout | undefined;

  const tick = (): void => {
    for (const waiter of waiting) {
      waiter.ticksLeft -= 1;
      if (waiter.ticksLeft < 0) waiter.refuse();
    }
    if (waiting.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
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
        admit: () => resolve(admit()),
        refuse: () => {
          waiting.delete(waiter);
          const cause = new Error(`no place became free within ${options.waitTimeoutMs} ms`);
          reject(problems.overloaded({ cause }));
        },
        ticksLeft: ticks,
      };
      waiting.add(waiter);
      ticking ??= setInterval(tick, options.waitTimeoutMs / ticks).unref();
    });

  const self: Gate = {
    async enter() {
      if (closed) throw problems.draining({ cause: new Error('the database is closed') });
      if (inside < options.width) return admit();
      if (waiting.size >= options.maxWaiting)
        throw problems.overloaded({
          cause: new Error(`${waiting.size} callers are waiting for a place`),
        });
      return wait();
    },
    async run(work) {
      const leave = await self.enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    async close(timeoutMs) {
      closed = true;
      if (inside > 0) await waitAtMost(timeoutMs, emptied.promise);
    },
  };
  return self;
}

// One gate for each key, such as a user: the requests of a user wait for each other, and for no others.

export type Gates = ReturnType<typeof createGates>;

/** Too many waiting requests of a user get 429 `rate_limited` by default, because the server is not overloaded. */
export function createGates(options: GateOptions, refuse = () => problems.rate_limited({ retryAfterS: 1 })) {
  /** Without callers, a gate is dropped. */
  const gates = new Map<string, { readonly gate: Gate; callers: number }>();
  return {
    /** As `Gate.run`, but what waits in vain gets the problem of `refuse`. */
    async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      const own = gates.get(key) ?? { gate: createGate(options), callers: 0 };
      gates.set(key, own);
      own.callers += 1;
      let hasEntered = false;
      try {
        return await own.gate.run(() => {
          hasEntered = true;
          return work();
        });
      } catch (error) {
        const isFull = !hasEntered && error instanceof Problem && error.code === 'overloaded';
        throw isFull ? refuse() : error;
      } finally {
        own.callers -= 1;
        if (own.callers === 0) gates.delete(key);
      }
    },
  };
}

// Concurrent work with a limit.

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
